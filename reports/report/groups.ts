import type { ChargeState } from "../../domain/charge/charge.ts";
import { amountOf } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { sqlOf, type ReportQuestion } from "../question/question.ts";
import { fromLines, type ChooseTable } from "../sums/tables.ts";
import type { LineSums } from "./sums.ts";

/** Sums of lines that agree in what a question groups by, and in what {@link LineSums} tells apart. */
export interface GroupSums extends LineSums {
  /** What each dimension of the question's `by` says. */
  readonly values: readonly string[];
}

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
  readonly held: boolean | number;
  readonly priced: boolean | number;
  readonly correction: boolean | number;
  readonly lineCount: number;
  readonly energy: string | null;
  readonly carbon: string | null;
}

/**
 * Asks the store for the sums of a question; of one group there can be several that agree in everything, which add up. Fails with a
 * `StoreError`, or a {@link TooManyGroupsError}.
 */
export async function readGroups(
  store: Pick<StoreClient, "query">,
  question: ReportQuestion,
  chooseTable: ChooseTable = fromLines,
): Promise<readonly GroupSums[]> {
  const { columns, where, parameters } = sqlOf(question, question.by);
  const { name, lines, held } = await chooseTable(question, question.by);
  const rows = await store.query<SumsRow>(
    `SELECT [${columns.map((column) => `toString(${column})`).join(", ")}]::Array(String) AS keys, state,
       ${held} AS held, effective_cost IS NOT NULL AS priced, corrects != '' AS correction,
       toFloat64(${lines}) AS lineCount, toString(sum(gpu_hours)) AS hours, toString(sum(ifNull(list_cost, 0))) AS list,
       toString(sum(ifNull(contracted_cost, 0))) AS contracted, toString(sum(ifNull(effective_cost, 0))) AS effective,
       toString(sum(ifNull(power_cost, 0))) AS power, toString(sum(energy_mj)) AS energy, toString(sum(carbon_grams)) AS carbon
     FROM ${name} WHERE ${where}
     GROUP BY keys, state, held, priced, correction
     LIMIT ${MOST_SUMS + 1}`,
    parameters,
  );
  if (rows.length > MOST_SUMS) throw new TooManyGroupsError();
  return rows.map(sumsOfRow);
}

function sumsOfRow({
  keys,
  state,
  held,
  priced,
  correction,
  lineCount,
  energy,
  carbon,
  ...amounts
}: SumsRow): GroupSums {
  return {
    values: keys,
    state: state as ChargeState,
    isHeld: Boolean(held),
    isPriced: Boolean(priced),
    isCorrection: Boolean(correction),
    lines: lineCount,
    gpuHours: amountOf(amounts.hours),
    list: amountOf(amounts.list),
    contracted: amountOf(amounts.contracted),
    effective: amountOf(amounts.effective),
    power: amountOf(amounts.power),
    millijoules: energy === null ? undefined : BigInt(energy),
    carbon: carbon === null ? undefined : amountOf(carbon),
  };
}
