import type { BillingPeriod } from "../../domain/period.ts";
import type { FocusKind } from "./columns.ts";

/** The selected rows of a dataset. */
export interface ReferenceQuestion {
  /** Only rows of this billing period, or terms that overlap it. Default: all. */
  readonly period?: BillingPeriod | undefined;
  /** The teams whose statements the reader may see. */
  readonly teams: readonly string[] | "all";
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A row by column name. */
export type ReferenceRow = Readonly<Record<string, string | null>>;

/** The rows of a dataset, the kinds of its columns, and the sums that it must have. */
export interface ReferenceRows {
  readonly kinds: Readonly<Record<string, FocusKind>>;
  readonly rows: readonly ReferenceRow[];
  readonly sums: Readonly<Record<string, string>>;
}
