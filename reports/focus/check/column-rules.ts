import { isObject } from "../../../domain/object.ts";
import { minorDigitsOf } from "../../../domain/price/currency.ts";
import { ALLOWED_WORDS, DECIMALS, KEY_VALUES, MOMENTS, NEVER_NULL, NEVER_NULL_IF_PRESENT } from "./known-columns.ts";
import type { RowRule, WrittenRow } from "./rule.ts";
import { decimalIn, isMoment, jsonIn, pairsIn } from "./values.ts";

/** Returns the first of some columns whose text breaks a rule. Null breaks no rule. */
function firstOf(columns: readonly string[], isBroken: (text: string, column: string) => boolean): RowRule["brokenIn"] {
  return (row: WrittenRow) =>
    columns.find((column) => {
      const text = row[column] ?? null;
      return text !== null && isBroken(text, column);
    });
}

const NOT_NULL = [...NEVER_NULL, ...NEVER_NULL_IF_PRESENT];
const WORDS = Object.keys(ALLOWED_WORDS);

/** FOCUS's rules for single columns. */
export const COLUMN_RULES: readonly RowRule[] = [
  {
    id: "not-null",
    columns: NOT_NULL,
    text: "this column is never null",
    brokenIn: (row) => NOT_NULL.find((column) => row[column] === null),
  },
  {
    id: "null-is-empty",
    columns: ["all"],
    text: "null is an empty cell, not an empty text or a word",
    brokenIn: (row) => Object.keys(row).find((column) => NULL_WORDS.has(row[column] ?? "something")),
  },
  {
    id: "decimal",
    columns: DECIMALS,
    text: "a number has only digits, a point and a minus, and at most 18 digits after the point",
    brokenIn: firstOf(DECIMALS, (text) => decimalIn(text) === undefined),
  },
  {
    id: "moment",
    columns: MOMENTS,
    text: "a time is in UTC, such as 2026-03-01T00:00:00Z",
    brokenIn: firstOf(MOMENTS, (text) => !isMoment(text)),
  },
  {
    id: "key-values",
    columns: KEY_VALUES,
    text: "the value is a JSON object of texts, numbers and booleans",
    brokenIn: firstOf(KEY_VALUES, (text) => pairsIn(text) === undefined),
  },
  {
    id: "method-details",
    columns: ["AllocatedMethodDetails"],
    text: "the value is a JSON object; its Elements have an AllocatedRatio from 0 to 1, and a UsageUnit with a UsageQuantity",
    brokenIn: firstOf(["AllocatedMethodDetails"], (text) => !isDetails(jsonIn(text))),
  },
  {
    id: "allowed-word",
    columns: WORDS,
    text: "the value is one of the values that FOCUS allows",
    brokenIn: firstOf(WORDS, (text, column) => !ALLOWED_WORDS[column]!.includes(text)),
  },
  {
    id: "currency",
    columns: ["BillingCurrency"],
    text: "the value is a currency of ISO 4217",
    brokenIn: firstOf(["BillingCurrency"], (text) => minorDigitsOf(text) === undefined),
  },
];

const NULL_WORDS: ReadonlySet<string> = new Set(["", "null", "NULL", "N/A"]);

function isDetails(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value["Elements"]) || value["Elements"].length === 0) return false;
  return value["Elements"].every((element: unknown) => {
    if (!isObject(element)) return false;
    const { AllocatedRatio: ratio, UsageUnit: unit, UsageQuantity: quantity } = element;
    if (typeof ratio !== "number" || ratio < 0 || ratio > 1) return false;
    return quantity === undefined || (typeof quantity === "number" && typeof unit === "string" && unit !== "");
  });
}
