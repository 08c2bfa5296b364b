import { minorDigitsOf } from "../../../domain/price/currency.ts";
import type { KnownColumn, KnownColumns } from "./column.ts";
import type { RowRule } from "./rule.ts";
import { decimalIn, isMoment, jsonIn, ONE, pairsIn } from "./values.ts";

/** A rule for the text of a column. */
interface TextRule {
  readonly id: string;
  readonly text: string;
  readonly appliesTo: (column: KnownColumn) => boolean;
  readonly isBroken: (text: string, column: KnownColumn) => boolean;
}

const TEXT_RULES: readonly TextRule[] = [
  {
    id: "decimal",
    text: "a number has only digits, a point and a minus, and at most 18 digits after the point",
    appliesTo: ({ kind }) => kind === "decimal",
    isBroken: (text) => decimalIn(text) === undefined,
  },
  {
    id: "moment",
    text: "a time is in UTC, such as 2026-03-01T00:00:00Z",
    appliesTo: ({ kind }) => kind === "time",
    isBroken: (text) => !isMoment(text),
  },
  {
    id: "key-values",
    text: "the value is a JSON object of texts, numbers and booleans",
    appliesTo: ({ kind }) => kind === "pairs",
    isBroken: (text) => pairsIn(text) === undefined,
  },
  {
    id: "json-object",
    text: "the value is a JSON object with the keys and values of the column's schema",
    appliesTo: ({ shape }) => shape !== undefined,
    isBroken: (text, { shape }) => !shape!(jsonIn(text)),
  },
  {
    id: "allowed-word",
    text: "the value is one of the values that FOCUS allows",
    appliesTo: ({ words }) => words !== undefined,
    isBroken: (text, { words }) => !words!.includes(text),
  },
  {
    id: "currency",
    text: "the value is a currency of ISO 4217",
    appliesTo: ({ kind }) => kind === "currency",
    isBroken: (text) => minorDigitsOf(text) === undefined,
  },
  {
    id: "unit-price-sign",
    text: "a unit price is not negative",
    appliesTo: ({ isPrice }) => isPrice === true,
    isBroken: (text) => (decimalIn(text) ?? 0n) < 0n,
  },
  {
    id: "fraction",
    text: "the value is a decimal from 0 to 1",
    appliesTo: ({ isFraction }) => isFraction === true,
    isBroken(text) {
      const fraction = decimalIn(text) ?? 0n;
      return fraction < 0n || fraction > ONE;
    },
  },
];

const NULL_WORDS: ReadonlySet<string> = new Set(["", "null", "NULL", "N/A"]);

/** Returns the rules for single columns of a dataset. */
export function columnRules(columns: KnownColumns): readonly RowRule[] {
  const namesOf = (is: (column: KnownColumn) => boolean): readonly string[] =>
    Object.entries(columns).flatMap(([name, column]) => (is(column) ? [name] : []));
  const notNull = namesOf(({ isNullable }) => !isNullable);
  const ofTexts = TEXT_RULES.map(({ id, text, appliesTo, isBroken }) => {
    const names = namesOf(appliesTo);
    const brokenIn: RowRule["brokenIn"] = (row) =>
      names.find((name) => {
        const value = row[name] ?? null;
        return value !== null && isBroken(value, columns[name]!);
      });
    return { id, text, columns: names, brokenIn };
  });
  return [
    {
      id: "not-null",
      columns: notNull,
      text: "this column is never null",
      brokenIn: (row) => notNull.find((column) => row[column] === null),
    },
    {
      id: "null-is-empty",
      columns: ["all"],
      text: "null is an empty cell, not an empty text or a word",
      brokenIn: (row) => Object.keys(row).find((column) => NULL_WORDS.has(row[column] ?? "something")),
    },
    ...ofTexts.filter((rule) => rule.columns.length > 0),
  ];
}
