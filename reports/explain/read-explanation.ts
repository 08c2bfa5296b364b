import { IMPORTED_MARK } from "../../domain/workload.ts";
import { ofNewestFact } from "../../runtime/store/schema/facts.ts";
import type { CountedGpus } from "../../domain/allocation/usage-hour.ts";
import { kWhOf } from "../../domain/energy/carbon.ts";
import { roundedDecimal } from "../../domain/exact/rational.ts";
import { LAST_UNIT_DIGITS } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { StoreParameters } from "../../runtime/store/store-parameters.ts";
import { momentSql, sqlOf, sqlOfLines } from "../question/question.ts";
import { fromLines, LINES, type ChargesTable, type ChooseTable } from "../sums/tables.ts";
import type { ExplainedLine, ExplainedSegment, Explanation, Part, Question } from "./explanation.ts";

/** The number of parts of each kind and of lines, highest cost first, if no other is asked for. */
export const MOST_PARTS = 10;

const SUMS = `toString(sum(gpu_hours)) AS gpuHours, toString(sum(ifNull(effective_cost, 0))) AS cost,
  toString(sumIf(gpu_hours, effective_cost IS NULL)) AS unpricedGpuHours,
  toString(sum(energy_mj)) AS millijoules, toString(sum(carbon_grams)) AS carbonGrams`;
const DEAREST = "sum(ifNull(effective_cost, 0)) DESC, sum(gpu_hours) DESC";

/** The options of an explanation. */
export interface ExplainOptions {
  /** The table that is added up: lines by default, or stored sums. */
  readonly chooseTable?: ChooseTable;
  /** True if lines have their segments; the default. */
  readonly hasSegments?: boolean;
  /** The number of parts of each kind, and of lines without `lines`; by default {@link MOST_PARTS}. */
  readonly most?: number;
  /** The part of the lines; by default the first ones, highest cost first. */
  readonly lines?: LinesPart;
}

/** A part of the lines of an explanation in an order. */
export interface LinesPart {
  readonly most: number;
  /** The number of lines before the part. */
  readonly skip: number;
  /** Undefined for the highest cost first. */
  readonly order?: { readonly by: LineOrder; readonly isDescending: boolean } | undefined;
}

/** The SQL of each order of lines. */
const LINE_ORDERS = {
  gpu: ["cluster", "node", "slot"],
  from: ["from_at"],
  state: ["state"],
  holder: ["namespace", "pod"],
  team: ["team"],
  gpuHours: ["gpu_hours"],
  cost: ["ifNull(effective_cost, 0)"],
} as const;

/** An order of lines. */
export type LineOrder = keyof typeof LINE_ORDERS;

/**
 * Explains the charges of a question by every step that made them. Nothing is computed again: everything was stored when the hours were
 * charged. Fails with a `StoreError`.
 */
export async function explain(
  store: StoreClient,
  question: Question,
  { chooseTable = fromLines, hasSegments = true, most = MOST_PARTS, lines: part }: ExplainOptions = {},
): Promise<Explanation> {
  const asked = { store, most, ...conditionOf(question) };
  const tableFor = (dimensions: readonly string[]): Promise<ChargesTable> =>
    "gpu" in question ? Promise.resolve(LINES) : chooseTable(question, dimensions);
  const [sums, ofWorkloads] = await Promise.all([tableFor([]), tableFor(["workload"])]);
  const [steps, lines] = await Promise.all([
    readSteps(asked, ofWorkloads),
    readLines({ ...asked, ...(part ?? { skip: 0 }) }, sums, hasSegments),
  ]);
  return { question, ...steps, lines };
}

/** A question's store, the number of parts to read, and its condition in SQL. */
interface Asked {
  readonly store: StoreClient;
  readonly most: number;
  readonly where: string;
  readonly parameters: StoreParameters;
}

type Steps = Omit<Explanation, "question" | "lines">;

interface StepRow extends Part {
  readonly step: "total" | "states" | "owners" | "prices" | "workloads" | "evidence";
  readonly state: string;
  readonly because: string;
  readonly payer: string;
  readonly team: string;
  readonly rule: string;
  readonly price: string;
  readonly since: string;
  readonly namespace: string;
  readonly workloadKind: string;
  readonly workload: string;
  /** The teams of the part. */
  readonly teams: readonly string[];
  readonly attribution: string;
  readonly lineCount: number;
}

const NOTHING: Part = { gpuHours: "0", cost: "0", unpricedGpuHours: "0", kWh: null, carbonGrams: null };

/** Reads the whole sum and its parts by each step. Each row is of one step. */
async function readSteps(asked: Asked, table: ChargesTable): Promise<Steps> {
  const { store, most, where, parameters } = asked;
  const stored = await store.query<Stored<StepRow>>(
    `SELECT multiIf(grouping(state) = 0, 'states', grouping(team) = 0, 'owners', grouping(price) = 0, 'prices',
         grouping(workload) = 0, 'workloads', grouping(attribution) = 0, 'evidence', 'total') AS step,
       state, because, payer, team, team_rule AS rule, price, if(price = '', '', ${isoOf("priced_since")}) AS since,
       namespace, workload_kind AS workloadKind, workload, groupUniqArray(team) AS teams, attribution,
       toFloat64(${table.lines}) AS lineCount, ${SUMS}
     FROM ${table.name} WHERE ${where} AND ${table.where}
     GROUP BY GROUPING SETS ((), (state, because, payer), (team, team_rule), (price, priced_since),
       (namespace, workload_kind, workload), (attribution))
     ORDER BY step, ${DEAREST} LIMIT ${most} BY step`,
    { ...parameters, ...table.parameters },
  );
  const rows = stored.map((row) => partOf<StepRow>(row));
  const of = <Told extends object>(step: StepRow["step"], told: (row: StepRow) => Told): (Told & Part)[] =>
    rows
      .filter((row) => row.step === step)
      .map((row) => {
        const { gpuHours, cost, unpricedGpuHours, kWh, carbonGrams } = row;
        return { ...told(row), gpuHours, cost, unpricedGpuHours, kWh, carbonGrams };
      });
  const [total] = of("total", ({ lineCount }) => ({ lineCount }));
  const isHeld = ({ step, workload }: StepRow): boolean => step === "workloads" && workload !== "";
  const podsOf = await countPods(asked, rows.filter(isHeld));
  return {
    ...(total ?? { ...NOTHING, lineCount: 0 }),
    states: of("states", ({ state, because, payer }) => ({ state, because, payer })),
    owners: of("owners", ({ team, rule }) => ({ team, rule })),
    prices: of("prices", ({ price, since }) => ({ price, since })),
    workloads: of("workloads", (row) => {
      const { namespace, workloadKind, workload } = row;
      return { namespace, workloadKind, workload, pods: podsOf.get(keyOf(row)) ?? 0 };
    }),
    evidence: of("evidence", ({ attribution }) => ({ attribution })),
  };
}

/** Counts the pods of workloads, by {@link keyOf}, in the lines, because only lines contain pods. */
async function countPods(
  { store, where, parameters }: Asked,
  workloads: readonly StepRow[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await store.query<Workload & { readonly pods: number }>(
    `SELECT namespace, workload_kind AS workloadKind, workload, toUInt32(uniqExact(holder)) AS pods
     FROM charges_published WHERE ${where} AND team IN {theirTeams:Array(String)} AND workload IN {workloads:Array(String)}
     GROUP BY namespace, workload_kind, workload`,
    {
      ...parameters,
      theirTeams: [...new Set(workloads.flatMap(({ teams }) => teams))],
      workloads: workloads.map(({ workload }) => workload),
    },
  );
  return new Map(rows.map((row) => [keyOf(row), row.pods]));
}

type Workload = Readonly<Record<"namespace" | "workloadKind" | "workload", string>>;

function keyOf({ namespace, workloadKind, workload }: Workload): string {
  return JSON.stringify([namespace, workloadKind, workload]);
}

/** A part as stored, with its energy in millijoules. */
type Stored<Of> = Omit<Of, "kWh"> & { readonly millijoules: string | null };

function partOf<Of extends Part>({ millijoules, ...row }: Stored<Of>): Of {
  const kWh = millijoules === null ? null : roundedDecimal(kWhOf(BigInt(millijoules)), LAST_UNIT_DIGITS);
  return { ...row, kWh } as unknown as Of;
}

function conditionOf(question: Question): { readonly where: string; readonly parameters: StoreParameters } {
  if (!("gpu" in question)) return sqlOf(question);
  const { at, gpu } = question;
  const { where, parameters } = sqlOfLines(question);
  return {
    where: `${where} AND from_at <= ${momentSql("at")} AND until_at > ${momentSql("at")}
      AND cluster = {cluster:String} AND node = {node:String} AND slot = {slot:UInt16}`,
    parameters: { ...parameters, at, ...gpu },
  };
}

function isoOf(column: string): string {
  return `formatDateTime(${column}, '%Y-%m-%dT%H:%i:%SZ', 'UTC')`;
}

interface LineRow extends Omit<ExplainedLine, "segment"> {
  readonly holder: string;
  readonly at: number;
  readonly run: string;
}

/**
 * Returns the cluster and time of the lines with the highest cost, in SQL. The rows with the highest maxima contain them all. Among equal costs the
 * first days come first.
 */
async function scopeOfHighest(
  { store, most, where, parameters }: Asked,
  table: ChargesTable,
): Promise<Pick<Asked, "where" | "parameters">> {
  const { name, highestCost } = table;
  if (highestCost === undefined) return { where: "true", parameters: {} };
  const rows = await store.query<{ readonly team: string; readonly day: string; readonly dearest: string }>(
    `SELECT team, toString(toDate(from_at, 'UTC')) AS day, toString(ifNull(${highestCost}, 0)) AS dearest
     FROM ${name} WHERE ${where} AND ${table.where}
     ORDER BY ifNull(${highestCost}, 0) DESC, day, team LIMIT ${most} WITH TIES`,
    { ...parameters, ...table.parameters },
  );
  return {
    where: `team IN {dearTeams:Array(String)} AND toDate(from_at, 'UTC') IN {dearDays:Array(Date)}
      AND ifNull(effective_cost, 0) >= {least:Decimal(38, 9)}`,
    parameters: {
      dearTeams: [...new Set(rows.map(({ team }) => team))],
      dearDays: [...new Set(rows.map(({ day }) => day))],
      // Fewer rows contain all lines.
      least: rows.length < most ? "-1e18" : rows.at(-1)!.dearest,
    },
  };
}

/** SQL for the order by the highest cost. Lines of equal rank have an order too, so that parts do not overlap. */
const BY_COST = "ifNull(effective_cost, 0) DESC, toDate(from_at, 'UTC'), team, gpu_hours DESC, from_at, node, slot";

async function readLines(
  asked: Asked & Omit<LinesPart, "most">,
  table: ChargesTable,
  hasSegments: boolean,
): Promise<readonly ExplainedLine[]> {
  const { store, skip, most, order } = asked;
  const isFirst = skip === 0 && order === undefined;
  const highest = isFirst ? await scopeOfHighest(asked, table) : { where: "true", parameters: {} };
  const direction = order?.isDescending === true ? " DESC" : "";
  const columns = order === undefined ? [] : LINE_ORDERS[order.by].map((column) => `${column}${direction}`);
  const rows = await store.query<Stored<LineRow>>(
    `SELECT cluster, node, slot AS gpu, ${isoOf("from_at")} AS \`from\`, ${isoOf("until_at")} AS \`until\`, state, team, namespace, pod,
       attribution, raw_share AS rawShare, share, price, holder, toString(run_id) AS run,
       formatDateTime(billing_period, '%Y-%m') AS billingPeriod, toBool(corrects != '') AS isCorrection, toFloat64(toUnixTimestamp64Milli(from_at)) AS at,
       toString(gpu_hours) AS gpuHours, toString(ifNull(effective_cost, 0)) AS cost,
       toString(if(effective_cost IS NULL, gpu_hours, 0)) AS unpricedGpuHours,
       toString(energy_mj) AS millijoules, toString(carbon_grams) AS carbonGrams
     FROM charges_published WHERE ${asked.where} AND ${highest.where}
     ORDER BY ${[...columns, BY_COST, "holder"].join(", ")} LIMIT ${most} OFFSET ${skip}`,
    { ...asked.parameters, ...highest.parameters },
  );
  const imported = await readImported(
    store,
    rows.map(({ holder }) => holder),
  );
  return Promise.all(
    rows.map(async (stored) => {
      const { holder, at, run, ...row } = partOf<LineRow>(stored);
      const { gpu } = row;
      const segment = gpu === null || !hasSegments ? null : await readSegment(store, { ...row, gpu, holder, at, run });
      return { ...row, imported: imported.get(holder) ?? null, segment };
    }),
  );
}

const IMPORTED = `
SELECT uid, JSONExtractString(${ofNewestFact("fact")}, 'annotations', '${IMPORTED_MARK}') AS mark
FROM workload_facts WHERE uid IN {holders:Array(String)} GROUP BY uid HAVING mark != ''`;

/** Reads the marks of the pods whose facts an import made, by UID. */
async function readImported(store: StoreClient, holders: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await store.query<{ uid: string; mark: string }>(IMPORTED, { holders: [...new Set(holders)] });
  return new Map(rows.map(({ uid, mark }) => [uid, mark]));
}

/** SQL for the run of the meter from which a line was made. For a closed hour it is not the latest run. */
const MADE_OF = `run_id IN (
  SELECT toUUIDOrZero(splitByChar(' ', basis)[1]) FROM runs WHERE run_id = toUUID({run:String})
  UNION ALL
  SELECT run_id FROM closed_runs WHERE close_id = toUUID({run:String}) AND kind = 'usage'
)`;

const segmentFrom = (table: string): string => `
SELECT ${isoOf("from_at")} AS \`from\`, ${isoOf("until_at")} AS \`until\`, gpu_key AS gpuKey, gpu_at AS gpuAt,
  JSONExtractRaw(${table}.place, 'counted') AS counted, because AS unavailableBecause,
  indexOf(holders, {holder:String}) AS nth,
  toUInt32(samples[nth]) AS samples,
  ${isoOf("first_at[nth]")} AS firstSample, ${isoOf("last_at[nth]")} AS lastSample,
  toFloat64(covered_ms[nth]) AS coveredMillis, toFloat64(active_ms[nth]) AS activeMillis,
  toFloat64(energy_covered_ms) AS energyCoveredMillis,
  toFloat64(intDiv(activity_ppm_ms[nth], greatest(1, covered_ms[nth]))) AS activityPpm
FROM ${table}
WHERE cluster = {cluster:String} AND node = {node:String} AND slot = {gpu:UInt16}
  AND from_at <= ${momentSql("at")} AND until_at > ${momentSql("at")}`;

type SegmentRow = Omit<ExplainedSegment, "counted"> & {
  readonly gpuAt: string;
  readonly counted: string;
  readonly nth: string;
};

async function readSegment(
  store: StoreClient,
  {
    cluster,
    node,
    gpu,
    holder,
    at,
    run,
  }: Pick<LineRow, "cluster" | "node" | "holder" | "at" | "run"> & {
    readonly gpu: number;
  },
): Promise<ExplainedSegment | null> {
  const ask = (table: string, where: string): Promise<readonly SegmentRow[]> =>
    store.query<SegmentRow>(`${segmentFrom(table)} AND ${where}`, { cluster, node, gpu, holder, at, run });
  const own = await ask("usage_hours", MADE_OF);
  const [row] = own.length > 0 ? own : await ask("usage_hours_published", "true");
  if (row === undefined) return null;
  const { nth: _, gpuAt, counted, ...segment } = row;
  const isMeasured = segment.samples > 0;
  return {
    ...segment,
    gpuAt: JSON.parse(gpuAt) as unknown,
    counted: counted === "" ? [] : (JSON.parse(counted) as readonly CountedGpus[]),
    firstSample: isMeasured ? segment.firstSample : null,
    lastSample: isMeasured ? segment.lastSample : null,
    activityPpm: segment.coveredMillis > 0 ? segment.activityPpm : null,
  };
}
