import { amountOf, formatAmount, lastUnits, type Quantity } from "../../domain/exact/units.ts";
import { PHASES, type Phase } from "../../domain/serving/split-rule.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { StoreParameters } from "../../runtime/store/store-parameters.ts";
import { SERVING_COUNTERS } from "../../runtime/store/schema/serving.ts";
import { servingSql, type ServingQuestion } from "./question.ts";
import { readServing, type ServingReport } from "./read-serving.ts";

/** The number of service-hours of an explanation, highest cost first. */
const MOST_HOURS = 5;
const MOST_PAGES = 20;
const MOST_GPUS = 20;

/** A page of an engine in an hour. Times are seconds. */
export interface ExplainedPage {
  readonly pod: string;
  readonly target: string;
  readonly exporter: string;
  readonly scrapes: number;
  readonly failures: number;
  /** The time in which the pod ran. */
  readonly servedSeconds: number;
  /** The time before the pod was ready. */
  readonly loadingSeconds: number;
  readonly coveredSeconds: number;
  readonly idleSeconds: number;
  /** Counters that began again in the hour. */
  readonly resets: number;
  /** The increases of the counters of all models of the page. */
  readonly increases: Readonly<Record<string, number>>;
  /** The first and the last successful scrape of the hour, in ISO 8601; null if the scrapes have expired. */
  readonly firstScrape: string | null;
  readonly lastScrape: string | null;
}

/** A GPU that pods of a service held in an hour. */
export interface ExplainedGpu {
  readonly pod: string;
  readonly node: string;
  readonly gpu: number | null;
  readonly gpuModel: string;
  readonly gpuHours: string;
  readonly cost: string;
  /** The entry of the price book. */
  readonly price: string;
  /** The name for `gpu-ledger explain`: `prod/gpu-a/3@2026-03-02T10:15:00Z`; null without a GPU. */
  readonly line: string | null;
}

/** An hour of a service: its lines of the question, the pages behind the split, and the GPUs behind the cost. */
export interface ExplainedHour {
  readonly hour: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly workload: string;
  /** The cost of the lines of the question. */
  readonly cost: string;
  readonly phases: Readonly<Partial<Record<Phase, { readonly cost: string; readonly basis: string }>>>;
  /** The pages of the workload, at most 20. */
  readonly pages: readonly ExplainedPage[];
  /** The GPUs of the workload, at most 20, highest cost first. */
  readonly gpus: readonly ExplainedGpu[];
}

/** The reasons of a cost of serving. */
export interface ServingExplanation extends Omit<ServingReport, "rows"> {
  readonly hours: readonly ExplainedHour[];
}

type HourRow = Readonly<Record<"hour" | "cluster" | "namespace" | "workloadKind" | "workload" | "cost", string>> & {
  readonly at: number;
  readonly phases: Readonly<Record<string, string>>;
  readonly bases: Readonly<Record<string, string>>;
};

/**
 * Explains the cost of serving: its unit costs, and the service-hours with the highest cost down to the scrapes of their pages and to the GPUs of
 * their pods, whose lines `gpu-ledger explain` explains down to their samples. Nothing is computed again. Fails with a `StoreError`.
 */
export async function explainServing(
  store: StoreClient,
  question: Omit<ServingQuestion, "by">,
  currency: string,
): Promise<ServingExplanation> {
  const { where, parameters } = servingSql({ ...question, by: [] });
  const [{ rows: _, ...report }, hours] = await Promise.all([
    readServing(store, { ...question, by: [] }, currency),
    store.query<HourRow>(
      `SELECT formatDateTime(begin, '%Y-%m-%dT%H:%i:%SZ', 'UTC') AS hour, toFloat64(toUnixTimestamp64Milli(begin)) AS at, cluster, namespace,
         workload_kind AS workloadKind, workload, toString(sum(amount)) AS cost,
         sumMap(map(toString(phase), amount))::Map(String, String) AS phases, maxMap(map(toString(phase), toString(basis))) AS bases
       FROM (
         SELECT lines.hour AS begin, cluster, namespace, workload_kind, workload, phase, basis, ifNull(effective_cost, 0) AS amount
         FROM serving_charges_published AS lines WHERE ${where}
       )
       GROUP BY begin, cluster, namespace, workload_kind, workload
       ORDER BY sum(amount) DESC, begin, cluster, namespace, workload LIMIT ${MOST_HOURS}`,
      parameters,
    ),
  ]);
  return { ...report, hours: await Promise.all(hours.map((row) => explainHour(store, question, row))) };
}

async function explainHour(
  store: StoreClient,
  { policy, where }: Pick<ServingQuestion, "policy" | "where">,
  row: HourRow,
): Promise<ExplainedHour> {
  const { hour, cluster, namespace, workloadKind, workload, cost, at, phases, bases } = row;
  const of = { cluster, namespace, workloadKind, workload, at };
  const paid = paidBy(where);
  const [pages, gpus] = await Promise.all([
    store.query<Omit<ExplainedPage, "increases"> & { readonly counters: readonly (number | null)[] }>(pagesSql(paid), {
      ...of,
      policy,
      ...paid.parameters,
    }),
    readGpus(store, { ...of, policy }, paid),
  ]);
  return {
    hour,
    cluster,
    namespace,
    workload,
    cost: text(cost),
    phases: Object.fromEntries(
      PHASES.flatMap((phase) =>
        phases[phase] === undefined ? [] : [[phase, { cost: text(phases[phase]), basis: bases[phase] ?? "" }]],
      ),
    ),
    pages: pages.map(({ counters, ...page }) => ({
      ...page,
      increases: Object.fromEntries(
        SERVING_COUNTERS.flatMap((name, index) =>
          typeof counters[index] === "number" ? [[name, counters[index]]] : [],
        ),
      ),
    })),
    gpus,
  };
}

const OF_HOUR = `cluster = {cluster:String} AND namespace = {namespace:String} AND workload_kind = {workloadKind:String}
  AND workload = {workload:String}`;
const BEGIN = "fromUnixTimestamp64Milli({at:Int64})";

/** The condition that the teams of a question have paid for a charge, with its parameters; empty without teams. */
interface Paid {
  readonly sql: string;
  readonly parameters: StoreParameters;
}

function paidBy(where: ServingQuestion["where"]): Paid {
  const teams = where.filter(({ dimension }) => dimension === "team");
  return {
    sql: teams.map((_, index) => ` AND team IN {teams${index}:Array(String)}`).join(""),
    parameters: Object.fromEntries(teams.map(({ values }, index) => [`teams${index}`, values])),
  };
}

/** Selects the published charges of a workload in the hour that the teams of a question have paid. */
const chargesOf = ({ sql }: Paid): string => `FROM charges_published
     WHERE policy = {policy:String} AND ${OF_HOUR} AND from_at >= ${BEGIN} AND from_at < ${BEGIN} + INTERVAL 1 HOUR${sql}`;

/** Selects the pages of a workload in an hour. For a question of some teams, only pages of pods that these teams have paid for. */
const pagesSql = (paid: Paid): string => `
SELECT pod, target, max(exporter) AS exporter, sum(scrapes)::Float64 AS scrapes, sum(failures)::Float64 AS failures,
  sum(served_ms) / 1000 AS servedSeconds, sum(loading_ms) / 1000 AS loadingSeconds, sum(covered_ms) / 1000 AS coveredSeconds,
  sum(idle_ms) / 1000 AS idleSeconds, sum(resets)::Float64 AS resets,
  [${SERVING_COUNTERS.map((name) => `toFloat64(sum(${name}))`).join(", ")}] AS counters,
  any(first) AS firstScrape, any(last) AS lastScrape
FROM serving_hours_published
LEFT JOIN (
  SELECT target, pod, toNullable(formatDateTime(min(scraped_at), '%Y-%m-%dT%H:%i:%SZ', 'UTC')) AS first,
    toNullable(formatDateTime(max(scraped_at), '%Y-%m-%dT%H:%i:%SZ', 'UTC')) AS last
  FROM serving_scrapes
  WHERE cluster = {cluster:String} AND failure = '' AND scraped_at >= ${BEGIN} AND scraped_at < ${BEGIN} + INTERVAL 1 HOUR
  GROUP BY target, pod
) AS scraped USING (target, pod)
WHERE ${OF_HOUR} AND hour = ${BEGIN} AND kind IN ('page', 'engine')${paid.sql === "" ? "" : ` AND pod IN (SELECT pod ${chargesOf(paid)})`}
GROUP BY pod, target
ORDER BY pod, target LIMIT ${MOST_PAGES}`;

/** Reads the GPUs of a workload in an hour, as far as the teams of the question pay for them. */
function readGpus(store: StoreClient, of: StoreParameters, paid: Paid): Promise<readonly ExplainedGpu[]> {
  return store.query<ExplainedGpu>(
    `SELECT pod, node, slot AS gpu, gpu_model AS gpuModel, toString(sum(gpu_hours)) AS gpuHours,
       toString(sum(ifNull(effective_cost, 0))) AS cost, any(price) AS price,
       if(slot IS NULL, NULL, concat(cluster, '/', node, '/', toString(slot), '@', formatDateTime(min(from_at), '%Y-%m-%dT%H:%i:%SZ', 'UTC'))) AS line
     ${chargesOf(paid)}
     GROUP BY cluster, pod, node, slot, gpu_model
     ORDER BY sum(ifNull(effective_cost, 0)) DESC, pod, node, slot LIMIT ${MOST_GPUS}`,
    { ...of, ...paid.parameters },
  );
}

function text(decimal: string): string {
  return formatAmount(lastUnits<Quantity>(amountOf(decimal)));
}
