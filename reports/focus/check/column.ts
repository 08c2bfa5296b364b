import type { Shape } from "./shape.ts";

/** The form of a column's values. `pairs` is a JSON object of scalars. */
export type ColumnKind = "text" | "decimal" | "time" | "currency" | "pairs" | "json";

/** A column of a dataset of FOCUS. */
export interface KnownColumn {
  readonly kind: ColumnKind;
  /** True if every file has the column. The presence of other columns depends on the provider. */
  readonly isNeeded: boolean;
  readonly isNullable: boolean;
  /** The allowed values beside null. */
  readonly words?: readonly string[];
  /** True for a decimal from 0 to 1. */
  readonly isFraction?: true;
  /** True for a decimal that is not negative. */
  readonly isPrice?: true;
  /** The form of JSON. */
  readonly shape?: Shape;
}

/** The columns of a dataset by name. */
export type KnownColumns = Readonly<Record<string, KnownColumn>>;

type More = Pick<KnownColumn, "words" | "isFraction" | "isPrice" | "shape">;

/** Returns a column that every file has and that is never null. */
export const filled = (kind: ColumnKind = "text", more: More = {}): KnownColumn => ({
  kind,
  isNeeded: true,
  isNullable: false,
  ...more,
});

/** Returns a column that every file has and that can be null. */
export const needed = (kind: ColumnKind = "text", more: More = {}): KnownColumn => ({
  ...filled(kind, more),
  isNullable: true,
});

/** Returns a column that files can have and that can be null. */
export const optional = (kind: ColumnKind = "text", more: More = {}): KnownColumn => ({
  ...needed(kind, more),
  isNeeded: false,
});

/** Returns a column that files can have and that is never null there. */
export const filledIfPresent = (kind: ColumnKind = "text", more: More = {}): KnownColumn => ({
  ...filled(kind, more),
  isNeeded: false,
});
