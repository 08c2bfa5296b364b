import type { ChargeState } from "../../domain/charge/charge.ts";
import { amountOf } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { sqlOf, type ReportQuestion } from "../question/question.ts";
import type { LineSums } from "./sums.ts";

/** Sums of lines that agree in what a question groups by, and in what {@link LineSums} tells apart. */
export interface GroupSums extends LineSums {
  /** What each dimension of the question's `by` says. */
  readonly values: readonly string[];
}

/** Reads the sums of a question; of one group there can be several that agree in everything, which add up. */
export type ReadGroups = (question: ReportQuestion) => Promise<readonly GroupSums[]>;

/** More sums than this are not read at once: a report is for people, lines are exported. */
const MOST_SUMS = 500_000;

/** A question has more groups than a report may have. */
export class TooManyGroupsError extends Error {
  readonly code = "too-many-groups";
  readonly retriable = false;

  constructor() {
    super(`these dimensions make more than ${MOST_SUMS} sums: group by fewer, or ask for less with --where`);
    this.name = "TooManyGroupsError";
  }
}

interface SumsRow extends Readonly<Record<"state" | "hours" | "list" | "contracted" | "effective" | "power", string>> {
  readonly keys: readonly string[];
  readonly day: number;
  readonly held: boolean | number;
  readonly priced: boolean | number;
  readonly correction: boolean | number;
  readonly lines: number;
  readonly energy: string | null;
  readonly carbon: string | null;
}

/** The sums of some UTC days, with the first moment of the day of each, milliseconds since the epoch. */
export interface DaySums {
  readonly day: number;
  readonly sums: GroupSums;
}

/** Asks the store for the sums of a question. Fails with a `StoreError`, or a {@link TooManyGroupsError}. */
export function groupsFrom(store: Pick<StoreClient, "query">): ReadGroups {
  return async (question) => (await readSums(store, question, "0", "1", {})).map(({ sums }) => sums);
}

/** The same of those of its lines that are of some UTC days, each by itself. */
export function readDays(
  store: Pick<StoreClient, "query">,
  question: ReportQuestion,
  days: readonly number[],
): Promise<readonly DaySums[]> {
  const day = "toFloat64(toUnixTimestamp(toStartOfDay(from_at, 'UTC'))) * 1000";
  return readSums(store, question, day, `${day} IN {days:Array(Float64)}`, { days });
}

async function readSums(
  store: Pick<StoreClient, "query">,
  question: ReportQuestion,
  day: string,
  only: string,
  more: Readonly<Record<string, unknown>>,
): Promise<readonly DaySums[]> {
  const { columns, where, parameters } = sqlOf(question, question.by);
  const rows = await store.query<SumsRow>(
    `SELECT [${columns.map((column) => `toString(${column})`).join(", ")}]::Array(String) AS keys, ${day} AS day, state,
       holder != '' AS held, effective_cost IS NOT NULL AS priced, corrects != '' AS correction,
       toFloat64(count()) AS lines, toString(sum(gpu_hours)) AS hours, toString(sum(ifNull(list_cost, 0))) AS list,
       toString(sum(ifNull(contracted_cost, 0))) AS contracted, toString(sum(ifNull(effective_cost, 0))) AS effective,
       toString(sum(ifNull(power_cost, 0))) AS power, toString(sum(energy_mj)) AS energy, toString(sum(carbon_grams)) AS carbon
     FROM charges_published WHERE ${where} AND ${only}
     GROUP BY keys, day, state, held, priced, correction
     LIMIT ${MOST_SUMS + 1}`,
    { ...parameters, ...more },
  );
  if (rows.length > MOST_SUMS) throw new TooManyGroupsError();
  return rows.map(sumsOfRow);
}

function sumsOfRow({
  keys,
  day,
  state,
  held,
  priced,
  correction,
  lines,
  energy,
  carbon,
  ...amounts
}: SumsRow): DaySums {
  const sums = {
    values: keys,
    state: state as ChargeState,
    isHeld: Boolean(held),
    isPriced: Boolean(priced),
    isCorrection: Boolean(correction),
    lines,
    gpuHours: amountOf(amounts.hours),
    list: amountOf(amounts.list),
    contracted: amountOf(amounts.contracted),
    effective: amountOf(amounts.effective),
    power: amountOf(amounts.power),
    millijoules: energy === null ? undefined : BigInt(energy),
    carbon: carbon === null ? undefined : amountOf(carbon),
  };
  return { day, sums };
}
