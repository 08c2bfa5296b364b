import { among, byHour, chosen, CLUSTERS, money, policyVariable, stepOf } from "../ledger.ts";
import { cell, toPage, UIDS } from "../links.ts";
import type { Dashboard, Variable } from "../model.ts";
import { section, type PanelDraft } from "../section.ts";
import type { DashboardOptions } from "../options.ts";
import { sqlRange, sqlRows } from "../queries.ts";

const LINES = "serving_charges_published";
const OF_RULE = ["$__timeFilter(hour)", `policy = ${chosen("policy")}`, `rule = ${chosen("rule")}`].join(" AND ");
const CHARGED = [OF_RULE, among("cluster"), among("team"), among("model")].join(" AND ");
const NOTHING =
  "No workload with a page of an inference engine was charged in this time. Collectors read such pages if a job has reads: serving.";
const COST = "sum(ifNull(effective_cost, 0))";
const TOKENS = "sum(computed_tokens + generated_tokens)";
const STEP = stepOf("hour");

/** Returns the SQL of a cost for a million of a count; nothing without a count. */
const perMillion = (cost: string, count = TOKENS): string => `toFloat64(${cost}) / nullIf(${count}, 0) * 1000000`;
/** Returns the SQL of the cost in some phases. */
const inPhases = (...phases: readonly string[]): string =>
  `sumIf(ifNull(effective_cost, 0), phase IN (${phases.map((phase) => `'${phase}'`).join(", ")}))`;
const BUSY = inPhases("prefill", "decode", "inference");

const now = (options: DashboardOptions): readonly PanelDraft[] => {
  const unit = { unit: money(options), decimals: 4 } as const;
  const stat = (title: string, description: string, sql: string, more: Partial<PanelDraft> = {}): PanelDraft => ({
    title,
    description,
    needs: "D",
    view: { kind: "stat" },
    ...unit,
    queries: [sqlRows(`SELECT ${sql} FROM ${LINES} WHERE ${CHARGED}`)],
    empty: NOTHING,
    width: 4,
    height: 5,
    ...more,
  });
  return [
    stat("Cost", "The charges of the workloads that serve, split over their models.", `${COST} AS cost`, {
      decimals: 2,
      links: [toPage("By model, tenant and workload", "/serving?policy=${policy:percentencode}")],
    }),
    stat(
      "A million tokens",
      "The whole cost per million computed and generated tokens, with idle time. Compare it with the price of a model's provider.",
      `${perMillion(COST)} AS cost`,
    ),
    stat(
      "A million tokens while busy",
      "The cost of prefill, decode and inference per million tokens. The difference to the whole cost is idle time: fewer engines or more requests close it.",
      `${perMillion(BUSY)} AS cost`,
    ),
    stat(
      "Idle",
      "The part of the cost in which no request was in the engines. Scale by demand, or let models share a GPU.",
      `toFloat64(${inPhases("idle")}) / nullIf(toFloat64(${COST}), 0) AS part`,
      { unit: "percentunit", decimals: 1, thresholds: [{ color: "green" }, { color: "orange", from: 0.5 }] },
    ),
    stat(
      "Unmeasured",
      "The part of the cost in which no page was read. Check the collectors' targets.",
      `toFloat64(${inPhases("unmeasured")}) / nullIf(toFloat64(${COST}), 0) AS part`,
      { unit: "percentunit", decimals: 1, thresholds: [{ color: "green" }, { color: "orange", from: 0.05 }] },
    ),
    stat(
      "Saved by caches",
      "The cost that cached prompt tokens would have added. Nobody pays it.",
      "sum(saved_cost) AS saved",
      { decimals: 2 },
    ),
  ];
};

const overTime = (options: DashboardOptions): readonly PanelDraft[] => {
  const unit = { unit: money(options), decimals: 2 } as const;
  const series = (name: string, value: string): string =>
    `SELECT ${STEP} AS time, ${name} AS name, ${value} AS Value FROM ${LINES} WHERE ${CHARGED} GROUP BY time, name ORDER BY time, name`;
  return [
    {
      title: "Cost per hour by phase",
      description: "Prefill and decode are work. A wide band of idle has engines without requests.",
      view: { kind: "series", isStacked: true },
      ...unit,
      queries: [sqlRange(series("toString(phase)", byHour(`toFloat64(${COST})`)))],
      empty: NOTHING,
      height: 9,
    },
    {
      title: "A million tokens by model",
      description:
        "The whole cost per million tokens of each model. It falls with traffic, and rises with idle engines and dearer GPUs.",
      view: { kind: "series" },
      unit: money(options),
      decimals: 4,
      queries: [
        sqlRange(`${series("toString(model)", perMillion(COST)).replace(" GROUP BY", " AND model != '' GROUP BY")}`),
      ],
      empty: NOTHING,
      height: 9,
    },
    {
      title: "Tokens per hour",
      description: "Computed and cached prompt tokens, and generated tokens, of all chosen models.",
      view: { kind: "series", isStacked: true },
      decimals: 1,
      queries: [
        sqlRange(`SELECT ${STEP} AS time, kind.1 AS name, ${byHour("toFloat64(sum(kind.2))")} AS Value FROM ${LINES}
ARRAY JOIN [('computed', computed_tokens), ('cached', cached_tokens), ('generated', generated_tokens)] AS kind
WHERE ${CHARGED} GROUP BY time, name ORDER BY time, name`),
      ],
      empty: NOTHING,
      width: 24,
    },
  ];
};

const whose = (options: DashboardOptions): readonly PanelDraft[] => {
  const cost = { unit: money(options), decimals: 2 } as const;
  const perToken = { unit: money(options), decimals: 4 } as const;
  const count = { unit: "short", decimals: 1 } as const;
  const measures = `${COST} AS cost, ${inPhases("idle")} AS idle, sum(computed_tokens) AS prompts, sum(cached_tokens) AS cached,
  sum(generated_tokens) AS generated, ${perMillion(COST)} AS loaded, ${perMillion(BUSY)} AS busy`;
  const columns = [
    { field: "cost", title: "cost", ...cost },
    { field: "idle", title: "idle", ...cost },
    { field: "prompts", title: "prompt tokens", ...count },
    { field: "cached", title: "cached", ...count },
    { field: "generated", title: "generated", ...count },
    { field: "loaded", title: "per million tokens", ...perToken },
    { field: "busy", title: "while busy", ...perToken },
  ];
  return [
    {
      title: "Models and workloads",
      description:
        "The services with the highest cost. A GPU model with a lower cost while busy is the better one for the model.",
      view: {
        kind: "table",
        columns: [
          {
            field: "model",
            title: "model",
            link: toPage("The model's cost", `/serving?model=${cell("model")}&policy=\${policy:percentencode}`),
          },
          { field: "cluster", title: "cluster" },
          { field: "namespace", title: "namespace" },
          { field: "workload", title: "workload" },
          { field: "gpu_model", title: "GPU model" },
          ...columns,
        ],
        sortedBy: "cost",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT model, cluster, namespace, workload, gpu_model, ${measures}
FROM ${LINES} WHERE ${CHARGED} GROUP BY model, cluster, namespace, workload, gpu_model ORDER BY cost DESC LIMIT 200`),
      ],
      empty: NOTHING,
      width: 24,
      height: 10,
    },
    {
      title: "Tenants",
      description:
        "The tenants that gateways name, by cost. Their share of idle time is not in their cost. The margin is the gateway's price minus the cost.",
      view: {
        kind: "table",
        columns: [
          { field: "tenant", title: "tenant" },
          { field: "model", title: "model" },
          ...columns.filter(({ field }) => field !== "idle" && field !== "loaded"),
          { field: "price", title: "gateway's price", ...cost },
          { field: "margin", title: "margin", ...cost, thresholds: [{ color: "red" }, { color: "text", from: 0 }] },
        ],
        sortedBy: "cost",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT tenant, model, ${measures}, toFloat64(sum(spend_nanos)) / 1000000000 AS price, price - toFloat64(cost) AS margin
FROM ${LINES} WHERE ${CHARGED} AND tenant != '' GROUP BY tenant, model ORDER BY cost DESC LIMIT 200`),
      ],
      empty: "No gateway named a tenant in this time.",
      width: 24,
    },
  ];
};

const column = (name: "rule" | "team" | "model", where: string, isMulti: boolean): Variable => ({
  name,
  label: name,
  query: {
    source: "clickhouse",
    sql: `SELECT DISTINCT ${name} FROM ${LINES} WHERE ${where} AND ${name} != '' ORDER BY ${name}`,
  },
  isMulti,
});

/** Returns the dashboard of the cost of inference: of models, phases, tenants and a million tokens. */
export function servingDashboard(options: DashboardOptions): Dashboard {
  const ofPolicy = `$__timeFilter(hour) AND policy = ${chosen("policy")}`;
  return {
    uid: UIDS.serving,
    title: "GPU serving",
    description:
      "The cost of inference by model, phase and tenant, and of a million tokens. The figures are the ledger's own, and sum to the charges.",
    variables: [
      policyVariable(options),
      column("rule", ofPolicy, false),
      CLUSTERS,
      column("team", [OF_RULE, among("cluster")].join(" AND "), true),
      column("model", [OF_RULE, among("cluster"), among("team")].join(" AND "), true),
    ],
    annotations: [],
    sections: [
      section("The chosen time", now(options)),
      section("Over time", overTime(options)),
      section("Models and tenants", whose(options)),
    ],
    from: "now-7d",
    refresh: "5m",
  };
}
