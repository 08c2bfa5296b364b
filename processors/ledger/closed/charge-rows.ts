import type { Charge, ChargedHolder, Costs } from "../../../domain/charge/charge.ts";
import { CHARGE_COLUMNS, type BookedCharge } from "../../../runtime/store/schema/charges.ts";
import { rowReader, selectionOf } from "../../../runtime/store/schema/table.ts";

/** The SELECT list of `charges` for rows that {@link chargeOf} reads. */
export const SELECTED_CHARGES = selectionOf(CHARGE_COLUMNS);

/** A row of {@link SELECTED_CHARGES}. */
export type ChargeRow = Readonly<Record<string, unknown>>;

/** A row with an object for each group of columns, even if the group has no values. */
type ReadCharge = Omit<BookedCharge, "holder" | "costs"> & {
  readonly holder: ChargedHolder;
  readonly costs: Partial<Costs>;
};

const readRow = rowReader(CHARGE_COLUMNS) as (row: ChargeRow) => ReadCharge;

/** Returns the charge of a row of the store. */
export function chargeOf(row: ChargeRow): BookedCharge {
  const { holder, costs, ...charge } = readRow(row);
  return { ...charge, holder: holder.id === "" ? undefined : holder, costs: isPriced(costs) ? costs : undefined };
}

function isPriced(costs: Partial<Costs>): costs is NonNullable<Charge["costs"]> {
  return costs.list !== undefined && costs.contracted !== undefined && costs.effective !== undefined;
}
