import type { VNode } from "preact";
import type { ReportRow } from "../report/report.ts";
import { amountOf, difference, formatAmount, sum, type Money as Exact } from "../../domain/exact/units.ts";
import { minorDigitsOf } from "../../domain/price/currency.ts";
import { Link } from "./link.tsx";
import { isZero, minorUnitOf, roundedChanges, roundedColumn, roundedTo, signed, unitOf } from "../format/rounded.ts";

/** The number of shown digits of GPU-hours. */
const HOUR_DIGITS = 2;

/** Groups the thousands of a decimal text: `-12,345.67`. */
export function grouped(decimal: string): string {
  const [whole = "", fraction] = decimal.split(".");
  const parts = whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? parts : `${parts}.${fraction}`;
}

/** An amount of money in minor units. The exact amount is shown on hover. */
export function Money({ amount, currency, isSigned = false, rounded }: MoneyProps): VNode {
  const shown = rounded ?? roundedTo(amount, minorDigitsOf(currency) ?? 2);
  return (
    <data class="money" value={amount} title={`${amount} ${currency}`}>
      {grouped(isSigned ? signed(shown) : shown)}
    </data>
  );
}

interface MoneyProps {
  readonly amount: string;
  readonly currency: string;
  readonly isSigned?: boolean;
  /** The amount as rounded with its column, so that the column adds up. If absent, the amount is rounded alone. */
  readonly rounded?: string | undefined;
}

/** GPU-hours with two digits, with the exact ones on hover. */
export function Hours({ hours, rounded }: HoursProps): VNode {
  return (
    <data value={hours} title={`${hours} GPU-hours`}>
      {grouped(rounded ?? roundedTo(hours, HOUR_DIGITS))}
    </data>
  );
}

interface HoursProps {
  readonly hours: string;
  /** As in {@link Money}. */
  readonly rounded?: string | undefined;
}

/** The amount of each row of a column, and the sum under its rows. */
export interface AmountColumn<Row> {
  readonly isNumber: true;
  readonly value: (row: Row) => number;
  readonly cell: (row: Row) => VNode;
  readonly foot: VNode;
}

/** Returns a column of money whose shown amounts add up to its foot. Rows without an amount have a dash. */
export function moneyColumn<Row>(
  rows: readonly Row[],
  of: (row: Row) => string | undefined,
  currency: string,
  isSigned = false,
): AmountColumn<Row> {
  const { shown, total } = column(rows, of, minorUnitOf(currency));
  return {
    isNumber: true,
    value: (row) => Number(of(row) ?? "0"),
    cell(row) {
      const amount = of(row);
      if (amount === undefined) return <span class="quiet">–</span>;
      return <Money {...{ amount, currency, isSigned }} rounded={shown.get(row)} />;
    },
    foot: <Money {...{ currency, isSigned }} amount={total.exact} rounded={total.rounded} />,
  };
}

/** The amounts of a report's row whose change is its trend. */
export const TREND = {
  now: ({ cost }: Pick<ReportRow, "cost">): string => cost,
  before: ({ before }: Pick<ReportRow, "before">): string => before ?? "0",
};

/** Returns a column with the signed changes of two columns of money. Each shown change is the shown amount minus the shown earlier one. */
export function changeColumn<Row>(
  rows: readonly Row[],
  of: { readonly now: (row: Row) => string; readonly before: (row: Row) => string },
  currency: string,
): AmountColumn<Row> {
  const [now, before] = [of.now, of.before].map((each) => rows.map((row) => amountOf<"currency">(each(row))));
  const changes = roundedChanges(now!, before!, minorUnitOf(currency));
  const shown = new Map(rows.map((row, index) => [row, changes[index]]));
  const exact = (each: Exact, earlier: Exact): string => formatAmount(difference(each, earlier));
  return {
    isNumber: true,
    value: (row) => Number(of.now(row)) - Number(of.before(row)),
    cell: (row) => (
      <Money
        amount={exact(amountOf(of.now(row)), amountOf(of.before(row)))}
        currency={currency}
        isSigned
        rounded={shown.get(row)}
      />
    ),
    foot: <Money amount={exact(sum(now!), sum(before!))} currency={currency} isSigned rounded={changes.at(-1)} />,
  };
}

/** Returns a column whose amounts link to their explanations: `to` returns the address of a row's amount, and of the sum if there is no row. */
export function explained<Row>(column: AmountColumn<Row>, to: (row?: Row) => string): AmountColumn<Row> {
  return {
    ...column,
    cell: (row) => <Link to={to(row)}>{column.cell(row)}</Link>,
    foot: <Link to={to()}>{column.foot}</Link>,
  };
}

/** Returns a column of GPU-hours like {@link moneyColumn}. */
export function hoursColumn<Row>(rows: readonly Row[], of: (row: Row) => string): AmountColumn<Row> {
  const { shown, total } = column(rows, of, unitOf(HOUR_DIGITS));
  return {
    isNumber: true,
    value: (row) => Number(of(row)),
    cell: (row) => <Hours hours={of(row)} rounded={shown.get(row)} />,
    foot: <Hours hours={total.exact} rounded={total.rounded} />,
  };
}

function column<Row>(rows: readonly Row[], of: (row: Row) => string | undefined, unit: bigint) {
  const exact = rows.map((row) => amountOf<"currency">(of(row) ?? "0"));
  const rounded = roundedColumn(exact, unit);
  return {
    shown: new Map(rows.map((row, index) => [row, rounded[index]])),
    total: { exact: formatAmount(sum(exact)), rounded: rounded.at(-1) },
  };
}

/** A ratio as a percentage with one digit; a dash for null. */
export function Ratio({ ratio }: { readonly ratio: string | null }): VNode {
  if (ratio === null) return <span class="quiet">–</span>;
  // An incomplete ratio must not appear as 100 %.
  if (Number(ratio) < 1 && Number(ratio) > 0.9995) return <data value={ratio}>over 99.9 %</data>;
  return <data value={ratio}>{roundedTo((Number(ratio) * 100).toFixed(6), 1)} %</data>;
}

/** Returns the ratio of a part to a whole, both exact decimal texts, with six digits; null if the whole is 0. */
export function ratioOf(part: string, whole: string): string | null {
  return isZero(whole) ? null : (Number(part) / Number(whole)).toFixed(6);
}
