import { NO_MACHINE, type ChargeState } from "../../domain/charge/charge.ts";
import { amountOf, formatAmount } from "../../domain/exact/units.ts";
import type { Payer } from "../../domain/policy/policy.ts";
import { SERVING_COUNTS, type ServingCounts } from "../../domain/serving/line.ts";
import type { Phase } from "../../domain/serving/split-rule.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import { refuseListPrices } from "../read/list-priced.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { groupsOfLines, LinesReplacedError } from "../lines/fixed.ts";
import { LINES_AT_ONCE } from "../lines/portions.ts";
import { servingSql, type ServingQuestion } from "../serving/question.ts";
import { datasetOf } from "./check/dataset.ts";
import { focusColumns } from "./columns.ts";
import { withInvoices } from "./invoiced.ts";
import { rowsOfAll } from "./rows.ts";
import { withCacheMeters } from "./cache-meter.ts";
import type { FocusSetting } from "./setting.ts";
import { aboutOf, focusFile, type FocusExport, type FocusWay } from "./file.ts";
import { byOrigin } from "./by-origin.ts";
import type { Origin, Part } from "./part.ts";
import type { UnpricedTeam } from "./plan.ts";

/** A question about services without the dimensions of rows. */
export type ServicesQuestion = Omit<ServingQuestion, "by">;

/** The lines of some runs that a question selects, and their sums as decimal texts. */
interface FixedServices {
  readonly question: ServicesQuestion;
  readonly runs: readonly string[];
  /** The starts of UTC days, milliseconds since the epoch. */
  readonly days: readonly number[];
  readonly sums: Readonly<Record<string, string>>;
  readonly unpriced: readonly UnpricedTeam[];
}

/**
 * Exports the cost of inference services as FOCUS with split-cost columns. The origin is a service on a UTC day on one model of GPU; its
 * parts are phases of models, for tenants. The file splits the charges of the services' pods once more, so its sums are part of a file of
 * charges of the same time, and not to be added to it. Fails with a `StoreError`.
 */
export async function exportServices(
  store: StoreClient,
  question: ServicesQuestion,
  setting: FocusSetting,
  way: FocusWay,
): Promise<FocusExport> {
  if (way.listPrices !== true) await refuseListPrices(store, question);
  const invoiced = await withInvoices(store, setting);
  const fixed = await fixServices(store, question);
  const columns = focusColumns("services", setting);
  const origins = readServices(store, fixed, { hasModels: setting.draft !== undefined, ...way });
  const rows = rowsOfAll(setting.draft === undefined ? origins : withCacheMeters(origins), columns, invoiced);
  const expected = { sums: fixed.sums, isWhole: question.where.length === 0 };
  const about = { rule: question.rule, ...aboutOf(question, setting, fixed.runs, fixed.unpriced) };
  return focusFile(store, { dataset: datasetOf(setting), columns, rows, expected }, about, way);
}

const OF_RUNS = "run_id IN {runs:Array(UUID)}";
/** A line of tokens without any time costs nothing. A line of time without a price has no cost. */
const HAS_COST = "(effective_cost IS NOT NULL OR gpu_hours = 0)";

/** The sums of lines, each with its column in a file. */
const SUMS = {
  ListCost: "list_cost",
  ContractedCost: "contracted_cost",
  EffectiveCost: "effective_cost",
  x_PowerCost: "power_cost",
  x_GpuHours: "gpu_hours",
  x_CachedSaving: "saved_cost",
  x_ComputedTokens: "computed_tokens",
  x_CachedTokens: "cached_tokens",
  x_GeneratedTokens: "generated_tokens",
  x_Requests: "requests",
} as const;

async function fixServices(store: StoreClient, question: ServicesQuestion): Promise<FixedServices> {
  const { where, parameters } = servingSql({ ...question, by: [] });
  // All runs of the span, so that an origin is whole with any conditions.
  const whole = servingSql({ ...question, by: [], where: [] });
  const found = await store.query<{ readonly run: string }>(
    `SELECT DISTINCT toString(run_id) AS run FROM serving_charges_published WHERE ${whole.where} ORDER BY run`,
    whole.parameters,
  );
  const runs = found.map(({ run }) => run);
  const all = { ...parameters, runs };
  const [days, [sums], unpriced] = await Promise.all([
    store.query<{ readonly day: number }>(
      `SELECT DISTINCT ${DAY} AS day FROM serving_charges WHERE ${OF_RUNS} AND ${where} ORDER BY day`,
      all,
    ),
    store.query<Readonly<Record<string, string>>>(
      `SELECT ${Object.entries(SUMS)
        .map(([name, column]) => `toString(sum(ifNull(lines.${column}, 0))) AS ${name}`)
        .join(", ")},
         toString(count()) AS x_Lines
       FROM serving_charges AS lines WHERE ${OF_RUNS} AND ${where} AND ${HAS_COST}`,
      all,
    ),
    store.query<{ readonly team: string; readonly lines: number; readonly hours: string }>(
      `SELECT team, toFloat64(count()) AS lines, toString(sum(gpu_hours)) AS hours FROM serving_charges
       WHERE ${OF_RUNS} AND ${where} AND NOT (${HAS_COST}) GROUP BY team ORDER BY team`,
      all,
    ),
  ]);
  return {
    question,
    runs,
    days: days.map(({ day }) => day),
    sums: sums!,
    unpriced: unpriced.map(({ team, lines, hours }) => ({ team, lines, gpuHours: formatAmount(amountOf(hours)) })),
  };
}

const OF_DAY = "hour >= toDateTime({day:Int64}, 'UTC') AND hour < toDateTime({day:Int64} + 86400, 'UTC')";
/** The name of a service as one text. No name of Kubernetes contains a line feed. */
const SERVICE = "concatWithSeparator('\\n', cluster, namespace, workload_kind, workload)";
const DAY = "toFloat64(toUnixTimestamp(toStartOfDay(hour, 'UTC'))) * 1000";

/** The columns of an origin and of its parts, which have the same names in the store. */
const ORIGIN = ["cluster", "namespace", "workload_kind", "workload", "gpu_model"] as const;
const PART = [
  "phase",
  "model",
  "adapter",
  "tenant",
  "basis",
  "team",
  "cost_center",
  "project",
  "environment",
  "payer",
] as const;

interface ServiceRow extends Readonly<Record<(typeof ORIGIN)[number] | (typeof PART)[number], string>> {
  readonly billing: number;
  readonly correction: number | boolean;
  readonly asked: number | boolean;
  readonly lines: number;
  readonly sums: readonly (string | null)[];
  readonly counts: readonly string[];
}

const AMOUNTS = [
  "gpu_hours",
  "list_cost",
  "contracted_cost",
  "effective_cost",
  "power_cost",
  "energy_mj",
  "carbon_grams",
  "saved_cost",
];

const columnOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Reads the priced lines day by day, origin by origin. Fails at the end with a {@link LinesReplacedError} if some were dropped meanwhile. */
async function* readServices(
  store: StoreClient,
  { question, runs, days, sums }: FixedServices,
  { hasModels, linesAtOnce = LINES_AT_ONCE }: { readonly hasModels: boolean; readonly linesAtOnce?: number },
): AsyncGenerator<readonly [Part, ...Part[]]> {
  const asked = servingSql({ ...question, by: [] });
  const all = servingSql({ ...question, where: [], by: [] });
  // With the columns of 1.5, an origin is of one model, because a price has the keys of one model.
  const keys = ["billing", "correction", ...ORIGIN, ...(hasModels ? ["model"] : [])];
  const select = `SELECT toFloat64(toUnixTimestamp(toDateTime(billing_period, 'UTC'))) * 1000 AS billing,
      corrects != '' AS correction, ${[...ORIGIN, ...PART].join(", ")},
      ${asked.where} AS asked, toFloat64(count()) AS lines,
      [${AMOUNTS.map((name) => `toString(sum(lines.${name}))`).join(", ")}]::Array(Nullable(String)) AS sums,
      [${SERVING_COUNTS.map((name) => `toString(sum(${columnOf(name)}))`).join(", ")}] AS counts
    FROM serving_charges AS lines
    WHERE ${OF_RUNS} AND ${all.where} AND ${HAS_COST} AND ${OF_DAY} AND ${SERVICE} IN {names:Array(String)}
    GROUP BY ALL ORDER BY ${[...new Set([...keys, ...PART])].join(", ")}, asked`;
  let lines = 0;
  for (const day of days) {
    const parameters = { ...all.parameters, ...asked.parameters, runs, day: day / 1000 };
    const services = await store.query<{ readonly name: string; readonly lines: number; readonly asked: number }>(
      `SELECT ${SERVICE} AS name, toFloat64(count()) AS lines, toFloat64(countIf(${asked.where})) AS asked
       FROM serving_charges WHERE ${OF_RUNS} AND ${all.where} AND ${HAS_COST} AND ${OF_DAY}
       GROUP BY name HAVING asked > 0 ORDER BY name`,
      parameters,
    );
    for (const group of groupsOfLines(services, linesAtOnce)) {
      const names = group.map(({ name }) => name);
      yield* byOrigin(store.stream<ServiceRow>(select, { ...parameters, names }), keys, (row, origin) => {
        if (row.asked) lines += row.lines;
        return partOf(row, origin ?? originOf(row, day, { ...question, hasModels }), question);
      });
    }
  }
  if (String(lines) !== sums["x_Lines"]) throw new LinesReplacedError();
}

function originOf(
  row: ServiceRow,
  day: number,
  { kind, span, hasModels }: Pick<ServicesQuestion, "kind" | "span"> & { readonly hasModels: boolean },
): Origin {
  const isShowback = kind === "showback";
  return {
    billingPeriod: row.billing,
    isCorrection: Boolean(row.correction),
    from: isShowback ? Math.max(day, span.from) : day,
    until: isShowback ? Math.min(day + DAY_MILLIS, span.until) : day + DAY_MILLIS,
    cluster: row.cluster,
    service: { namespace: row.namespace, workloadKind: row.workload_kind, workload: row.workload },
    node: "",
    slot: undefined,
    ...NO_MACHINE,
    gpuModel: row.gpu_model,
    ...(hasModels && { model: row.model }),
    price: "",
    pricedSince: 0,
  };
}

/** The state of GPU time of each phase. It is not written. */
const STATES: Readonly<Record<Phase, ChargeState>> = {
  prefill: "active",
  decode: "active",
  inference: "active",
  idle: "idle",
  starting: "starting",
  unmeasured: "unobserved",
};

function partOf(row: ServiceRow, origin: Origin, { rule }: ServicesQuestion): Part {
  const { asked, lines, sums, counts } = row;
  const [gpuHours, list, contracted, effective, power, energy, carbon, saved] = sums;
  const { namespace, workloadKind, workload } = origin.service!;
  const phase = row.phase as Phase;
  return {
    origin,
    work: {
      rule,
      phase,
      model: row.model,
      adapter: row.adapter,
      tenant: row.tenant,
      basis: row.basis,
      counts: Object.fromEntries(SERVING_COUNTS.map((name, at) => [name, Number(counts[at])])) as ServingCounts,
      saved: amountOf(saved!),
    },
    isAskedFor: Boolean(asked),
    state: STATES[phase],
    because: "",
    payer: row.payer as Payer,
    team: row.team,
    costCenter: row.cost_center,
    project: row.project,
    environment: row.environment,
    holder: "",
    namespace,
    pod: "",
    workloadKind,
    workload,
    type: "",
    queue: "",
    priorityClass: "",
    labels: {},
    attribution: "",
    lines,
    millis: 0,
    gpuHours: amountOf(gpuHours!),
    list: amountOf(list ?? "0"),
    contracted: amountOf(contracted ?? "0"),
    effective: amountOf(effective ?? "0"),
    power: power === null ? undefined : amountOf(power!),
    millijoules: energy === null ? undefined : BigInt(energy!),
    carbon: carbon === null ? undefined : amountOf(carbon!),
  };
}
