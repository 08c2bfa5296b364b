import { CHARGE_COLUMNS } from "../../runtime/store/schema/charges.ts";
import type { Column } from "../../runtime/store/schema/table.ts";
import type { ColumnType } from "../../runtime/store/schema/types.ts";

/** A column of an exported line. */
export interface LineColumn {
  readonly name: string;
  /** The column's SQL over a row of `charges`, for ClickHouse. */
  readonly sql: string;
  readonly kind: ColumnType<unknown>["kind"];
}

/** The SQL of columns that have another form in exports. */
const EXPORTED: Readonly<Record<string, string>> = { billing_period: "formatDateTime(billing_period, '%Y-%m')" };

const isTimeOfLine = ({ path }: Column): boolean => path === "fromMillis" || path === "untilMillis";
const isBooking = ({ path }: Column): boolean => ["policy", "billingPeriod", "corrects"].includes(path);

/**
 * Every column of a line, in the order of exports: the booking, the time, and the others like in the table. Amounts are exact: GPU-hours,
 * money in the currency (null if nothing prices the line), millijoules at the GPU, grams of CO₂e.
 */
export const LINE_COLUMNS: readonly LineColumn[] = [
  ...CHARGE_COLUMNS.filter(isBooking),
  ...CHARGE_COLUMNS.filter(isTimeOfLine),
  ...CHARGE_COLUMNS.filter((column) => !isBooking(column) && !isTimeOfLine(column)),
].map(({ name, as, type }) => ({ name: as, sql: EXPORTED[name] ?? name, kind: type.kind }));

/** The texts that a spreadsheet takes for a formula, as in `reports/format/csv.ts`. */
const FORMULA = "^[=+\\\\-@\\\\t\\\\r]";

/**
 * Returns the SQL of a column as a text or a number: times in ISO 8601, labels as a JSON object. `isForSpreadsheet` puts an apostrophe
 * before formulas.
 */
export function plainSql({ sql, kind }: LineColumn, isForSpreadsheet: boolean): string {
  switch (kind) {
    case "time":
      return `concat(replaceOne(toString(${sql}, 'UTC'), ' ', 'T'), 'Z')`;
    case "labels":
      return isForSpreadsheet ? `toJSONString(${sql})` : sql;
    case "text":
      return isForSpreadsheet ? `if(match(toString(${sql}), '${FORMULA}'), concat('''', ${sql}), ${sql})` : sql;
    case "number":
      return sql;
  }
}
