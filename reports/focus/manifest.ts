import type { FocusDraft, FocusVersion } from "../../domain/focus-version.ts";
import { counted } from "../../domain/counted.ts";
import { amountOf, formatAmount, lastUnits, sum, type Amount, type Quantity } from "../../domain/exact/units.ts";
import type { SplitRule } from "../../domain/serving/split-rule.ts";
import type { Filter, ReportKind } from "../question/question.ts";
import type { CheckOutcome } from "./check/check.ts";
import type { DatasetName } from "./check/dataset.ts";
import type { ColumnHead } from "./columns.ts";
import type { UnpricedTeam } from "./plan.ts";
import type { FocusCells } from "./rows.ts";

/** The manifest beside a file of any dataset. Amounts are decimal texts. */
export interface FileManifest {
  readonly focusVersion: FocusVersion;
  readonly dataset: DatasetName;
  readonly rows: number;
  /** The sums of columns that the file has; 0 for others. */
  readonly sums: Readonly<Record<SummedColumn, string>>;
  /** Null if the file was not checked. */
  readonly check: (Omit<CheckOutcome, "rows"> & { readonly isPassed: boolean }) | null;
}

/** The manifest beside a file of Cost and Usage: its sources, its sums, and what is left out. */
export interface FocusManifest extends FileManifest {
  /** The unreleased version whose merged columns the file has, too. */
  readonly focusDraft?: FocusDraft;
  readonly policy: string;
  /** The rule of the split, in a file of services. */
  readonly rule?: SplitRule;
  readonly kind: ReportKind;
  /** Times in ISO 8601; the end is exclusive. */
  readonly from: string;
  readonly until: string;
  readonly where: readonly Filter[];
  readonly currency: string;
  /** Usage without a price. It has no row. */
  readonly unpriced: { readonly lines: number; readonly gpuHours: string; readonly teams: readonly UnpricedTeam[] };
  /** SHA-256 of the ids of the lines' runs. */
  readonly runsHash: string;
}

/** Columns whose sums are in the manifest. */
const SUMMED = [
  "BilledCost",
  "ListCost",
  "ContractedCost",
  "EffectiveCost",
  "x_PowerCost",
  "x_GpuHours",
  "x_Lines",
] as const;

/** See {@link FileManifest}. */
export type SummedColumn = (typeof SUMMED)[number];

/** Adds up rows as they are written. */
export interface Tally {
  add(rows: readonly FocusCells[]): void;
  readonly rows: number;
  readonly sums: FocusManifest["sums"];
}

/** Creates an empty tally of a file with some columns. */
export function createTally(columns: readonly ColumnHead[]): Tally {
  const indexes = SUMMED.map((name) => columns.findIndex((column) => column.name === name));
  const sums: Amount<Quantity>[] = SUMMED.map(() => lastUnits(0n));
  let count = 0;
  return {
    add(rows) {
      count += rows.length;
      for (const [index, column] of indexes.entries())
        sums[index] = sum([sums[index]!, ...rows.map((cells) => amountOf(cells[column] ?? "0"))]);
    },
    get rows() {
      return count;
    },
    get sums() {
      const entries = SUMMED.map((name, index) => [name, formatAmount(sums[index]!)] as const);
      return Object.fromEntries(entries) as Record<SummedColumn, string>;
    },
  };
}

/** Returns a sentence about the part of an export without a price; undefined if everything has one. */
export function unpricedSentence({ unpriced }: Pick<FocusManifest, "unpriced">): string | undefined {
  if (unpriced.lines === 0) return undefined;
  const teams = unpriced.teams.map(({ team, gpuHours }) => `${team} ${gpuHours}`).join(", ");
  return `without a price and therefore not in the file: ${unpriced.gpuHours} GPU-hours of ${counted(unpriced.lines, "line")} (${teams})`;
}
