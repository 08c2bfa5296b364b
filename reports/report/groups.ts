import type { ChargeState } from "../../domain/charge/charge.ts";
import { amountOf } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { sqlOf, type ChargesQuestion } from "../question/question.ts";
import { fromLines, type ChooseTable } from "../sums/tables.ts";
import type { LineSums } from "./sums.ts";

/** The sums of lines that are equal in the dimensions of a question and in the keys of {@link LineSums}. */
export interface GroupSums extends LineSums {
  /** The value of each dimension of the question's `by`. */
  readonly values: readonly string[];
}

/** The limit of sums in one reading. A report is for people; lines are exported. */
const MOST_SUMS = 500_000;

/** A question with more groups than a report may have. */
export class TooManyGroupsError extends Error {
  readonly code = "too-many-groups";
  readonly retriable = false;

  constructor() {
    super(`these dimensions make more than ${MOST_SUMS} sums: use fewer dimensions, or select less with --where`);
    this.name = "TooManyGroupsError";
  }
}

interface SumsRow extends Readonly<Record<"state" | "hours" | "list" | "contracted" | "effective" | "power", string>> {
  readonly absent: number | string;
  readonly keys: readonly string[];
  readonly held: boolean | number;
  readonly priced: boolean | number;
  readonly correction: boolean | number;
  readonly lineCount: number;
  readonly energy: string | null;
  readonly carbon: string | null;
}

/**
 * Reads the sums of a question by each list of dimensions, in one query. Several sums of one group can be equal in all keys; they add up.
 * Fails with a `StoreError` or a {@link TooManyGroupsError}.
 */
export async function readGroups(
  store: Pick<StoreClient, "query">,
  question: ChargesQuestion,
  bys: readonly (readonly string[])[],
  chooseTable: ChooseTable = fromLines,
): Promise<readonly (readonly GroupSums[])[]> {
  const names = [...new Set(bys.flat())];
  const { columns, where, parameters } = sqlOf(question, names);
  const { name, lines, held, ...table } = await chooseTable(question, names);
  const keys = names.map((_, index) => `key${index}`);
  const sets = bys.map((by) => `(${[...by.map((each) => keys[names.indexOf(each)]!), ...TOLD_APART].join(", ")})`);
  const rows = await store.query<SumsRow>(
    `SELECT ${keys.length === 0 ? "0" : `grouping(${keys.join(", ")})`} AS absent, [${keys.join(", ")}]::Array(String) AS keys, ${TOLD_APART.join(", ")},
       toFloat64(${lines}) AS lineCount, toString(sum(gpu_hours)) AS hours, toString(sum(ifNull(list_cost, 0))) AS list,
       toString(sum(ifNull(contracted_cost, 0))) AS contracted, toString(sum(ifNull(effective_cost, 0))) AS effective,
       toString(sum(ifNull(power_cost, 0))) AS power, toString(sum(energy_mj)) AS energy, toString(sum(carbon_grams)) AS carbon
     FROM (
       SELECT *, ${held} AS held, effective_cost IS NOT NULL AS priced, corrects != '' AS correction${columns.map((column, index) => `, toString(${column}) AS key${index}`).join("")}
       FROM ${name} WHERE ${where} AND ${table.where})
     GROUP BY GROUPING SETS (${sets.join(", ")})
     LIMIT ${MOST_SUMS + 1}`,
    { ...parameters, ...table.parameters },
  );
  if (rows.length > MOST_SUMS) throw new TooManyGroupsError();
  return bys.map((by) => {
    const indexes = by.map((each) => names.indexOf(each));
    // A bit for each key, highest bit first: 1 if the row's list does not have the key.
    const absent = names.reduce((bits, each) => bits * 2 + (by.includes(each) ? 0 : 1), 0);
    return rows
      .filter((row) => Number(row.absent) === absent)
      .map((row) =>
        sumsOfRow(
          row,
          indexes.map((index) => row.keys[index]!),
        ),
      );
  });
}

/** The keys of {@link LineSums}. */
const TOLD_APART = ["state", "held", "priced", "correction"] as const;

function sumsOfRow(row: SumsRow, values: readonly string[]): GroupSums {
  const { state, held, priced, correction, lineCount, energy, carbon } = row;
  return {
    values,
    state: state as ChargeState,
    isHeld: Boolean(held),
    isPriced: Boolean(priced),
    isCorrection: Boolean(correction),
    lines: lineCount,
    gpuHours: amountOf(row.hours),
    list: amountOf(row.list),
    contracted: amountOf(row.contracted),
    effective: amountOf(row.effective),
    power: amountOf(row.power),
    millijoules: energy === null ? undefined : BigInt(energy),
    carbon: carbon === null ? undefined : amountOf(carbon),
  };
}

/** Compares two lists of values of dimensions by the first value that differs. */
export function compareKeys(a: readonly string[], b: readonly string[]): number {
  const first = a.findIndex((value, index) => value !== b[index]);
  return first < 0 ? 0 : a[first]! < b[first]! ? -1 : 1;
}
