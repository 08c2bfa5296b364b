import type { Charge } from "../../../domain/charge/charge.ts";
import {
  ADDED_DIMENSIONS,
  HOLDER_DIMENSIONS,
  MACHINE_DIMENSIONS,
  type ChargeDimension,
} from "../../../domain/charge/dimension.ts";
import { DIMENSIONS } from "../../../domain/owner/owner.ts";
import type { Column, PathOf } from "./table.ts";
import * as types from "./types.ts";
import type { ColumnType } from "./types.ts";

/** A charge as it is booked: under a policy, in a billing period. */
export interface BookedCharge extends Charge {
  readonly policy: string;
  /** The start of the month in which the charge is booked, milliseconds since the epoch. */
  readonly billingPeriod: number;
  /** The closing whose lines the charge corrects; empty if it is not a correction. */
  readonly corrects: string;
}

/** A column of `charges` and its use in exports and sums. */
export interface ChargeColumn extends Column {
  /** The name in exports, and of the dimension if the column is one. */
  readonly as: string;
  /** How hourly and daily sums keep the column: as a key of all sums, as a key of the sums of workloads only, or as an amount to add. */
  readonly sums?: "key" | "workload" | "amount";
  /** Columns whose values are equal in all lines of one FOCUS origin, or of one part of it. */
  readonly focus?: "origin" | "part";
}

type Meaning = Partial<Pick<ChargeColumn, "as" | "sums" | "focus">>;

function column<Value>(
  name: string,
  type: ColumnType<Value>,
  path: PathOf<BookedCharge>,
  { as = path, ...meaning }: Meaning = {},
): ChargeColumn {
  return { name, type, path, as, ...meaning };
}

/** Returns a text column that is a dimension. */
function dimension(
  path: PathOf<BookedCharge>,
  as: ChargeDimension,
  meaning: Omit<Meaning, "as">,
  type: ColumnType<string> = types.text,
): ChargeColumn {
  return column(as === "type" ? "workload_type" : snakeCase(as), type, path, { as, ...meaning });
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const { text, manyTexts, moment, nullableAmount } = types;

/** How sums keep a dimension of the holder, and its column type. */
const OF_HOLDER: Readonly<Partial<Record<(typeof HOLDER_DIMENSIONS)[number], readonly [Meaning, typeof text]>>> = {
  pod: [{}, manyTexts],
  workload: [{ sums: "workload" }, manyTexts],
};

/** Columns that lines of older closings do not have: every new column. A line's canonical text includes them only if they are not empty. */
export const ADDED_COLUMNS: ReadonlySet<string> = new Set(ADDED_DIMENSIONS.map(snakeCase));

/** The columns of `charges` without the run's, in the order in which closings hash them. Added columns come last. */
export const CHARGE_COLUMNS: readonly ChargeColumn[] = [
  column("policy", text, "policy", { sums: "key" }),
  column("billing_period", types.day, "billingPeriod", { sums: "key" }),
  column("corrects", text, "corrects", { sums: "key" }),
  column("cluster", text, "cluster", { sums: "key", focus: "origin" }),
  column("node", text, "node", { focus: "origin" }),
  column("slot", types.nullableUInt16, "slot", { as: "gpu" }),
  column("from_at", moment, "fromMillis", { as: "from", sums: "key" }),
  column("until_at", moment, "untilMillis", { as: "until" }),
  ...MACHINE_DIMENSIONS.map((name) => dimension(name, name, { sums: "key", focus: "origin" })),
  ...(["state", "because", "payer", ...DIMENSIONS] as const).map((name) =>
    dimension(name, name, { sums: "key", focus: "part" }),
  ),
  column("holder", manyTexts, "holder.id", { as: "holder", focus: "part" }),
  ...HOLDER_DIMENSIONS.map((name) => {
    const [meaning, type] = OF_HOLDER[name] ?? [{ sums: "key" } as const, text];
    return dimension(`holder.${name}`, name, { focus: "part", ...meaning }, type);
  }),
  column("labels", types.labels, "holder.labels", { as: "labels" }),
  dimension("holder.attribution", "attribution", { sums: "key", focus: "part" }),
  column("raw_share", text, "holder.rawShare", { as: "rawShare" }),
  column("share", text, "holder.share", { as: "share" }),
  column("share_millis", types.fraction, "shareMillis"),
  column("gpu_hours", types.amount, "gpuHours", { sums: "amount" }),
  column("list_cost", nullableAmount, "costs.list", { as: "list", sums: "amount" }),
  column("contracted_cost", nullableAmount, "costs.contracted", { as: "contracted", sums: "amount" }),
  column("effective_cost", nullableAmount, "costs.effective", { as: "cost", sums: "amount" }),
  column("power_cost", nullableAmount, "power", { sums: "amount" }),
  column("energy_mj", types.nullableInteger, "millijoules", { sums: "amount" }),
  column("carbon_grams", nullableAmount, "carbon", { as: "carbonGrams", sums: "amount" }),
  column("price", text, "trail.price", { as: "price", sums: "key", focus: "origin" }),
  column("priced_since", moment, "trail.pricedSince", { as: "pricedSince", sums: "key" }),
  ...DIMENSIONS.map((name) =>
    column(`${snakeCase(name)}_rule`, text, `trail.owners.${name}`, {
      as: `${name}Rule`,
      ...(name === "team" ? { sums: "key" } : {}),
    }),
  ),
];
