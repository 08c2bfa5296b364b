import { isServingDimension, SERVING_DIMENSIONS, type ServingDimension } from "../../domain/serving/dimension.ts";
import { dateText } from "../../domain/period.ts";
import type { SplitRule } from "../../domain/serving/split-rule.ts";
import { SERVING_CHARGE_COLUMNS } from "../../runtime/store/schema/serving.ts";
import { momentSql, readFiltersOf, type Filter, type QuestionSql, type ReportKind } from "../question/question.ts";
import { monthsIn, type Span } from "../question/span.ts";

/** A question about the cost of serving, under a policy and a rule. */
export interface ServingQuestion {
  readonly policy: string;
  readonly rule: SplitRule;
  readonly kind: ReportKind;
  readonly span: Span;
  readonly by: readonly ServingDimension[];
  readonly where: readonly Filter[];
}

/** Reads conditions in the form `model=qwen3-32b`. Returns the filters, or a sentence with the error. */
export function readServingFilters(
  texts: readonly string[],
): { readonly where: readonly Filter[] } | { readonly error: string } {
  return readFiltersOf(texts, isServingDimension, SERVING_DIMENSIONS.join(", "));
}

/** Returns a question as SQL over `serving_charges_published`. All values are parameters. */
export function servingSql({ policy, rule, kind, span, by, where }: ServingQuestion): QuestionSql {
  const parameters: Record<string, unknown> = { policy, rule, from: span.from, until: span.until };
  const terms = where.map(({ dimension, values }, index) => {
    parameters[`values${index}`] = values;
    return `${COLUMNS[dimension as ServingDimension]} IN {values${index}:Array(String)}`;
  });
  if (kind === "chargeback") parameters["months"] = monthsIn(span).map(dateText);
  const time =
    kind === "chargeback"
      ? "billing_period IN {months:Array(Date)}"
      : `hour >= ${momentSql("from")} AND hour < ${momentSql("until")}`;
  return {
    columns: by.map((dimension) => COLUMNS[dimension]),
    where: ["policy = {policy:String}", "rule = {rule:String}", time, ...terms].join(" AND "),
    parameters,
  };
}

const COLUMNS = {
  ...Object.fromEntries(SERVING_CHARGE_COLUMNS.map(({ name, path }) => [path, name])),
  chargeDay: "formatDateTime(hour, '%Y-%m-%d', 'UTC')",
  chargePeriod: "formatDateTime(hour, '%Y-%m', 'UTC')",
  billingPeriod: "formatDateTime(billing_period, '%Y-%m')",
} as Readonly<Record<ServingDimension, string>>;
