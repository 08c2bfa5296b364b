import type { HeldState } from "../../domain/allocation/allocate.ts";
import { amountOf } from "../../domain/exact/units.ts";
import { hourOf } from "../../domain/time.ts";
import { amountsOf, AMOUNT_NAMES, type LaneCharge, type RunAmounts } from "../../domain/training/bill.ts";
import { isCalm } from "../../domain/training/layout.ts";
import type { Timeline } from "../../domain/training/timeline.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { LaidOutRun } from "./laid-out-run.ts";
import { momentSql, sqlOfLines, type Filter } from "../question/question.ts";

/** Charges of one lane, time and state, with their team and GPU model. */
export interface RunCharge extends LaneCharge {
  readonly team: string;
  readonly gpuModel: string;
}

/** The SQL of each amount of a line, in the order of {@link AMOUNT_NAMES}. Energy is in millijoules. */
const AMOUNTS = [
  "gpu_hours",
  "if(effective_cost IS NULL, gpu_hours, 0)",
  "ifNull(list_cost, 0)",
  "ifNull(contracted_cost, 0)",
  "ifNull(effective_cost, 0)",
  "ifNull(power_cost, 0)",
  "ifNull(energy_mj, 0)",
  "ifNull(carbon_grams, 0)",
];
const ENERGY = AMOUNT_NAMES.indexOf("millijoules");

/** Returns the SQL of an array with the sums of all amounts of the lines that meet a condition. */
export function amountSums(condition: string): string {
  return `[${AMOUNTS.map((amount) => `toString(sumIf(${amount}, ${condition}))`).join(", ")}]`;
}

/** Returns the amounts of an array of {@link amountSums}. */
export function amountsOfRow(sums: readonly string[]): RunAmounts {
  return amountsOf(sums.map((sum, name) => (name === ENERGY ? BigInt(sum) : amountOf(sum))));
}

interface Row {
  readonly lane: number;
  readonly from: number;
  readonly until: number;
  readonly state: HeldState;
  readonly team: string;
  readonly gpuModel: string;
  readonly sums: readonly string[];
}

/**
 * Reads the charges of the pods of runs under a policy, in the order of the runs. The store adds up lines with the same lane, time, state,
 * team and model; of a calm lane all times. Fails with a `StoreError`.
 */
export async function readRunCharges(
  store: Pick<StoreClient, "query">,
  runs: readonly LaidOutRun[],
  of: { readonly policy: string; readonly where: readonly Filter[]; readonly now: number },
): Promise<readonly (readonly RunCharge[])[]> {
  const lanes = runs.flatMap(({ layout }, run) =>
    layout.lanes.map((pods, lane) => ({ run, lane, pods, calm: isCalm(pods, layout.timelines[lane]!) })),
  );
  const pods = lanes.flatMap((lane, index) =>
    lane.pods.flatMap(({ uid, name, bound, end }) =>
      bound === undefined ? [] : [{ uid, name, lane: index, from: bound, until: end?.at ?? of.now }],
    ),
  );
  const charges = runs.map((): RunCharge[] => []);
  if (pods.length === 0) return charges;
  const { where, parameters } = sqlOfLines(of);
  const time = (column: string): string => `if(calm, 0, toFloat64(toUnixTimestamp64Milli(${column})))`;
  const rows = await store.query<Row>(
    `SELECT transform(holder, {uids:Array(String)}, {lanes:Array(UInt32)}, toUInt32(0)) AS lane,
       has({calmLanes:Array(UInt32)}, lane) AS calm,
       ${time("from_at")} AS \`from\`, ${time("until_at")} AS until, state, team, gpu_model AS gpuModel,
       ${amountSums("true")} AS sums
     FROM charges_published
     WHERE ${where} AND cluster IN {clusters:Array(String)} AND namespace IN {namespaces:Array(String)}
       AND from_at >= ${momentSql("from")} AND from_at < ${momentSql("until")}
       AND pod IN {pods:Array(String)} AND holder IN {uids:Array(String)}
     GROUP BY lane, calm, \`from\`, until, state, team, gpuModel
     ORDER BY lane, \`from\`, until, state, team, gpuModel`,
    {
      ...parameters,
      uids: pods.map(({ uid }) => uid),
      lanes: pods.map(({ lane }) => lane),
      calmLanes: lanes.flatMap(({ calm }, index) => (calm ? [index] : [])),
      pods: [...new Set(pods.map(({ name }) => name))],
      clusters: [...new Set(runs.map(({ run }) => run.cluster))],
      namespaces: [...new Set(runs.map(({ run }) => run.namespace))],
      from: hourOf(pods.reduce((earliest, { from }) => Math.min(earliest, from), Infinity)),
      until: pods.reduce((latest, { until }) => Math.max(latest, until), -Infinity),
    },
  );
  for (const { sums, lane: index, ...row } of rows) {
    const { run, lane, calm } = lanes[index]!;
    const time = calm ? trainingTime(runs[run]!.layout.timelines[lane]!) : row;
    charges[run]!.push({ ...row, ...time, lane, amounts: amountsOfRow(sums) });
  }
  return charges;
}

/** Returns a moment in which a calm lane trains, for charges whose time does not matter. */
function trainingTime({ stretches }: Timeline): Pick<RunCharge, "from" | "until"> {
  const from = Math.max(0, stretches.at(-1)!.from);
  return { from, until: from + 1 };
}
