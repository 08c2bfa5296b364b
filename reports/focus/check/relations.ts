import type { RowRule, WrittenRow } from "./rule.ts";
import { decimalIn, ONE } from "./values.ts";

/** Returns true if a row has no value in a column. */
export const isNull = (row: WrittenRow, column: string): boolean => (row[column] ?? null) === null;

/** 10⁻⁹ of the currency, as a product of two decimals in 10⁻¹⁸. */
const TOLERANCE = 10n ** 27n;

/** Returns the rule that a cost is a unit price times a quantity, if both are present. */
export function product(cost: string, price: string): RowRule {
  const quantity = "PricingQuantity";
  return {
    id: `${cost}-product`,
    columns: [cost, price, quantity],
    text: `${cost} is ${price} × ${quantity}, within 10⁻⁹`,
    brokenIn: (row) => {
      const [total, each, count] = [decimalIn(row[cost]), decimalIn(row[price]), decimalIn(row[quantity])];
      if (total === undefined || each === undefined || count === undefined) return undefined;
      const difference = each * count - total * ONE;
      return difference > TOLERANCE || difference < -TOLERANCE ? cost : undefined;
    },
  };
}

/** Returns the rule that two columns are null together. */
export function together(one: string, other: string): RowRule {
  return {
    id: `${one}-with-${other}`,
    columns: [one, other],
    text: `${one} is null if and only if ${other} is null`,
    brokenIn: (row) => (isNull(row, one) === isNull(row, other) ? undefined : one),
  };
}

/** Returns the rule that columns are null if another column is null. */
export function nullWithout(needed: string, ...columns: readonly string[]): RowRule {
  return {
    id: `null-without-${needed}`,
    columns: [...columns, needed],
    text: `the column is null if ${needed} is null`,
    brokenIn: (row) => (isNull(row, needed) ? columns.find((column) => !isNull(row, column)) : undefined),
  };
}

/** The values of columns, any of which a row can have. Null is an empty cell. */
type Values = Readonly<Record<string, readonly (string | null)[]>>;

/** The demands on a row: columns with a value, columns without one, and the allowed or forbidden values of columns. */
interface Demands {
  readonly filled?: readonly string[];
  readonly empty?: readonly string[];
  readonly is?: Values;
  readonly isNot?: Values;
}

const has = (row: WrittenRow, values: Values, column: string): boolean => values[column]!.includes(row[column] ?? null);
const inWords = (words: readonly (string | null)[]): string => words.map((word) => word ?? "null").join(" or ");

/** Returns the rule that a row with some values follows some demands. */
export function where(id: string, values: Values, demands: Demands): RowRule {
  const { filled = [], empty = [], is = {}, isNot = {} } = demands;
  const sentences = [
    filled.length > 0 ? "the column is not null" : [],
    empty.length > 0 ? "the column is null" : [],
    ...Object.entries(is).map(([column, words]) => `${column} is ${inWords(words)}`),
    ...Object.entries(isNot).map(([column, words]) => `${column} is not ${inWords(words)}`),
  ];
  const conditions = Object.entries(values).map(([column, words]) => `${column} is ${inWords(words)}`);
  return {
    id,
    columns: [...filled, ...empty, ...Object.keys(is), ...Object.keys(isNot), ...Object.keys(values)],
    text: `where ${conditions.join(" and ")}, ${sentences.flat().join(" and ")}`,
    brokenIn: (row) => {
      if (!Object.keys(values).every((column) => has(row, values, column))) return undefined;
      return (
        filled.find((column) => isNull(row, column)) ??
        empty.find((column) => !isNull(row, column)) ??
        Object.keys(is).find((column) => !has(row, is, column)) ??
        Object.keys(isNot).find((column) => has(row, isNot, column))
      );
    },
  };
}

/** Returns the rule that a time is not before another one, or, if `isStrict`, later than the other one. */
export function inOrder(first: string, then: string, isStrict: boolean): RowRule {
  return {
    id: `${then}-after-${first}`,
    columns: [first, then],
    text: `${then} is ${isStrict ? "later than" : "not before"} ${first}`,
    brokenIn(row) {
      const [from, until] = [Date.parse(row[first] ?? ""), Date.parse(row[then] ?? "")];
      return (isStrict ? until <= from : until < from) ? then : undefined;
    },
  };
}

/** The rule that a billing period is a month. */
export const BILLING_MONTH: RowRule = {
  id: "billing-month",
  columns: ["BillingPeriodStart", "BillingPeriodEnd"],
  text: "a billing period is a UTC calendar month",
  brokenIn: (row) => {
    const [start, end] = [row["BillingPeriodStart"] ?? "", row["BillingPeriodEnd"] ?? ""];
    const next = new Date(start);
    next.setUTCMonth(next.getUTCMonth() + 1);
    const isMonth = start.endsWith("-01T00:00:00Z") && next.getTime() === Date.parse(end);
    return isMonth ? undefined : "BillingPeriodEnd";
  },
};
