import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { dashboards } from "../../dashboards/files.ts";
import { isOverTime, type Dashboard, type Variable } from "../../dashboards/model.ts";
import { DEFAULT_DASHBOARD_OPTIONS } from "../../dashboards/options.ts";
import { readUser } from "../../runtime/store/embedded/credentials.ts";
import { storeFolder } from "../../runtime/store/embedded/store-folder.ts";
import { generateQuickAlerts, QUICK_SECONDS } from "../support/alert-files.ts";
import { createCommandFolder, getJson, type CommandFolder } from "../support/command.ts";
import { askStore, isEmpty, remarks, type Answer, type Reader } from "../support/grafana/clickhouse.ts";
import { ALL, expandedPromql, expandedSql, type Shown } from "../support/grafana/expand.ts";
import { requirePart } from "../support/parts.ts";
import { startPrometheus, type PrometheusServer } from "../support/prometheus-server.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

const hasPrometheus = requirePart("prometheus");
const HOURS = 6;
const CLUSTER = "demo";
const MOST_CHOICES = 20;
const SETS = dashboards(DEFAULT_DASHBOARD_OPTIONS);
const PANELS = SETS.flatMap((dashboard) =>
  dashboard.sections.flatMap(({ panels }) =>
    panels.map((panel) => ({ name: `${dashboard.title}: ${panel.title}`, dashboard, panel })),
  ),
);
const OF_STORE = PANELS.filter(({ panel }) => panel.needs === "D");
const OF_PROCESSORS = PANELS.filter(({ panel }) => panel.needs === "C");
/** Panels that are correctly empty here, with the reason. */
const IN_BOOKS = "the demo has none; test/integration/dashboards.test.ts has books with some";
const TOO_SHORT = "cards need the usage of seven days, and the demo has six hours here";
const EMPTY: Readonly<Record<string, string>> = {
  "GPU teams and namespaces: Savings now": TOO_SHORT,
  "GPU teams and namespaces: Savings by team": TOO_SHORT,
  "GPU teams and namespaces: Savings by kind": TOO_SHORT,
  "GPU cost: Statements": IN_BOOKS,
  "GPU cost: Without a price": IN_BOOKS,
  "GPU cost: Without an owner": IN_BOOKS,
  "GPU sharing: Stranded cost per hour": IN_BOOKS,
  "GPU sharing: Stranded by pool": IN_BOOKS,
  "GPU pipeline: Failed requests to Kubernetes": "the demo's API server answers",
};
/** Panels with values at some moments only: the test only checks that their queries are valid. */
const WAITING = "whether pods of the demo wait depends on when it is looked at";
const AT_TIMES: Readonly<Record<string, string>> = {
  "GPU fleet: Waiting": WAITING,
  "GPU queue: Requested GPUs": WAITING,
  "GPU queue: Longest wait": WAITING,
  "GPU queue: Waiting gangs with GPUs": WAITING,
  "GPU queue: GPUs of waiting gangs": WAITING,
  "GPU queue: Pending GPUs and reasons": WAITING,
  "GPU queue: Requested GPUs over time": WAITING,
};

/** Series that are the last to come: those of workloads, which are choices too, of costs, and of counters that alerts lack. */
const RECORDED = ["gpu:workload:info", "pod:gpu_cost_per_hour:sum", "gpu_ledger_alerts_lacking_counter"];

/** The demo's pipeline as released, with hours of its fleet's past, and a Prometheus that scrapes all of it. */
describe.skipIf(!hasPrometheus)("the queries of dashboards against a running gpu-ledger", () => {
  let folder: CommandFolder;
  let prometheus: PrometheusServer;
  let address: string;
  let reader: Reader;
  let times: Omit<Shown, "chosen">;

  const ask = (sql: string, chosen: Shown["chosen"] = {}): Promise<Answer> =>
    askStore(reader, expandedSql(sql, { ...times, chosen }));

  beforeAll(async () => {
    folder = createCommandFolder();
    const config = folder.write("c.yaml", {
      cluster: CLUSTER,
      data: "data",
      server: { listen: "127.0.0.1:0" },
      demo: { gpus: 32, history: `${HOURS}h` },
    });
    const up = folder.start(["up", "--config", config]);
    address = await up.address();
    const { store } = await getJson<{ readonly store: { readonly url: string } }>(`${address}/api/status`);
    const user = readUser(storeFolder(join(folder.path, "data/store")).credentialsFile)!;
    reader = { url: store.url, database: "gpu_ledger", ...user };
    const files = await generateQuickAlerts(folder, {});
    prometheus = await startPrometheus({
      configuration: {
        global: { scrape_interval: `${QUICK_SECONDS}s` },
        rule_files: Object.keys(files.rules),
        scrape_configs: [
          {
            job_name: "dcgm-exporter",
            http_sd_configs: [{ url: `${address}/api/demo/targets` }],
            relabel_configs: [{ target_label: "cluster", replacement: CLUSTER }],
            honor_labels: true,
          },
          { job_name: "gpu-ledger", static_configs: [{ targets: [new URL(address).host] }], honor_labels: true },
        ],
      },
      files: files.rules,
    });
    const isCharged = async (): Promise<boolean> => {
      const { rows } = await askStore(reader, "SELECT uniqExact(window_start) FROM charge_runs");
      return Number(rows[0]![0]) >= HOURS;
    };
    await vi.waitUntil(isCharged, { timeout: 560_000, interval: 2_000 });
    // The charges come sooner than the series: rates need some minutes of scrapes.
    const areRecorded = async (): Promise<boolean> => {
      const found = await Promise.all(RECORDED.map((series) => prometheus.query(series)));
      return found.every(({ length }) => length > 0);
    };
    await vi.waitUntil(areRecorded, { timeout: 560_000, interval: 2_000 });
    const untilMillis = Date.now();
    times = {
      fromMillis: untilMillis - HOURS * HOUR_MILLIS,
      untilMillis,
      stepSeconds: 900,
      scrapeSeconds: QUICK_SECONDS,
    };
  }, 1_200_000);
  afterAll(async () => {
    await prometheus?.stop();
    await folder.dispose();
  });

  const choices = new Map<Dashboard, Promise<readonly Shown["chosen"][]>>();
  function choicesOf(dashboard: Dashboard): Promise<readonly Shown["chosen"][]> {
    const known = choices.get(dashboard) ?? readChoices(dashboard);
    choices.set(dashboard, known);
    return known;
  }

  /** At most `MOST_CHOICES` selections: "all" for a variable with several values, each value in turn for a variable with one. */
  async function readChoices({ variables }: Dashboard): Promise<readonly Shown["chosen"][]> {
    let found: readonly Shown["chosen"][] = [{}];
    for (const { name, query, isMulti, isHidden = false } of variables) {
      const next = found.map(async (chosen) => {
        const values = await valuesOf(query, chosen);
        const all = isHidden ? values : ALL;
        const some = values.length === 0 ? [""] : values;
        return (isMulti ? some.slice(0, 1).map(() => all) : some).map((value) => ({ ...chosen, [name]: value }));
      });
      found = (await Promise.all(next)).flat().slice(0, MOST_CHOICES);
    }
    expect(found.length).toBeGreaterThan(0);
    return found;
  }

  async function valuesOf(query: Variable["query"], chosen: Shown["chosen"]): Promise<readonly string[]> {
    if (query.source === "clickhouse") return (await ask(query.sql, chosen)).rows.map(([value]) => String(value));
    const selector = expandedPromql(query.selector, { ...times, chosen });
    return prometheus.labelValues(query.of, selector, times.untilMillis - 600_000, Date.now());
  }

  it.each(OF_STORE)("$name has rows in the form of its panel", async ({ name, dashboard, panel }) => {
    const chosen = await choicesOf(dashboard);
    for (const query of panel.queries) {
      if (query.source !== "clickhouse") throw new Error("a panel has one source");
      const answers = await Promise.all(chosen.map((each) => ask(query.sql, each)));
      expect(answers.flatMap((answer) => remarks(answer, query, panel))).toEqual([]);
      expect(answers.every(isEmpty) ? (EMPTY[name] ?? "no known reason") : undefined).toBe(EMPTY[name]);
    }
  });

  it.each(OF_PROCESSORS)("$name has values from the processors", async ({ name, dashboard, panel }) => {
    const [chosen] = await choicesOf(dashboard);
    const shown = {
      ...times,
      fromMillis: Date.now() - 120_000,
      untilMillis: Date.now(),
      stepSeconds: 15,
      chosen: chosen!,
    };
    const answers = panel.queries.map(async (query) => {
      if (query.source !== "prometheus") throw new Error("a panel has one source");
      const expr = expandedPromql(query.expr, shown);
      return isOverTime(query)
        ? prometheus.queryRange(expr, shown.fromMillis, shown.untilMillis, shown.stepSeconds)
        : prometheus.query(expr);
    });
    const series = (await Promise.all(answers)).flat();
    const why = EMPTY[name] ?? (name in AT_TIMES ? undefined : "no known reason");
    expect(series.length === 0 ? why : undefined).toBe(EMPTY[name]);
  });
});
