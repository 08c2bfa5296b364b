import {
  CHARGE_DIMENSIONS,
  isChargeDimension,
  labelOfDimension,
  LABEL_DIMENSION,
  type ChargeDimension,
} from "../../domain/charge/dimension.ts";
import { dateText } from "../../domain/period.ts";
import type { StoreParameters } from "../../runtime/store/store-parameters.ts";
import { CHARGE_COLUMNS } from "../../runtime/store/schema/charges.ts";
import { monthsIn, type Span } from "./span.ts";

/**
 * A question about charges. A `chargeback` is of charges that were booked in whole months, including corrections of earlier months, like
 * their statements. A `showback` is of the charges for a time, whenever they were booked.
 */
export interface ChargesQuestion {
  readonly policy: string;
  readonly kind: ReportKind;
  readonly span: Span;
  /** Only lines with one of the values in each of these dimensions count. */
  readonly where: readonly Filter[];
  /** The time that a report is compared with; by default an equal time before the span. */
  readonly compared?: Span | undefined;
}

/** A question with the dimensions by which charges are added up: names of `domain/charge/dimension.ts`. */
export interface ReportQuestion extends ChargesQuestion {
  readonly by: readonly string[];
}

/** See {@link ChargesQuestion}. */
export type ReportKind = (typeof REPORT_KINDS)[number];

/** The kinds of reports. */
export const REPORT_KINDS = ["chargeback", "showback"] as const;

/** Values of a dimension, at least one; `""` is for lines without a value. */
export interface Filter {
  readonly dimension: string;
  readonly values: readonly string[];
}

/** A condition and columns in ClickHouse's SQL, with the values of their placeholders. */
export interface QuestionSql {
  /** The SQL of each dimension of `by`, in that order. */
  readonly columns: readonly string[];
  readonly where: string;
  readonly parameters: StoreParameters;
}

/**
 * Reads conditions in the form `team=vision,nlp`. Returns the filters, or a sentence with the error. A comma or a backslash in a value is
 * escaped with a backslash.
 */
export function readFilters(
  texts: readonly string[],
): { readonly where: readonly Filter[] } | { readonly error: string } {
  const isKnown = (name: string): boolean => isChargeDimension(name) || labelOfDimension(name) !== undefined;
  return readFiltersOf(texts, isKnown, `${CHARGE_DIMENSIONS.join(", ")} and label.<name>`);
}

/** Reads conditions like {@link readFilters} for other dimensions, which `names` lists for error messages. */
export function readFiltersOf(
  texts: readonly string[],
  isDimension: (name: string) => boolean,
  names: string,
): { readonly where: readonly Filter[] } | { readonly error: string } {
  const where: Filter[] = [];
  for (const text of texts) {
    const equals = text.indexOf("=");
    const dimension = text.slice(0, Math.max(0, equals));
    const isKnown = isDimension(dimension);
    if (!isKnown && /^[\w.]+$/.test(dimension))
      return { error: `${dimension} is not a dimension; the dimensions are ${names}` };
    if (!isKnown)
      return { error: `${JSON.stringify(text)} is not a dimension, = and its values, such as team=vision,nlp` };
    where.push({ dimension, values: valuesIn(text.slice(equals + 1)) });
  }
  return { where };
}

function valuesIn(text: string): readonly string[] {
  const values = `,${text}`.match(/,(?:\\.|[^,\\]|\\$)*/gsu) ?? [];
  return values.map((value) => value.slice(1).replaceAll(/\\(.)/gsu, "$1"));
}

/** Returns a condition in the form that {@link readFilters} reads. */
export function filterText({ dimension, values }: Filter): string {
  return `${dimension}=${values.map((value) => value.replaceAll(/[\\,]/g, "\\$&")).join(",")}`;
}

/** Returns a question as the parameters of an address. */
export function questionText({ policy, kind, span, where }: ChargesQuestion): string {
  const parameters = new URLSearchParams({ span: span.name, kind, policy });
  for (const filter of where) parameters.append("where", filterText(filter));
  return parameters.toString();
}

/** Returns the reason why a question has no answer, in a sentence; undefined if it has one. */
export function objectionTo({ kind, span }: Pick<ChargesQuestion, "kind" | "span">): string | undefined {
  if (kind === "showback" || monthsIn(span).length > 0) return undefined;
  return `a chargeback has the charges booked in whole months, and ${span.name} is not made of whole months: use a showback`;
}

/** Returns a question as SQL over `charges_published`. Names of labels and all values are parameters. */
export function sqlOf({ kind, span, ...question }: ChargesQuestion, by: readonly string[] = []): QuestionSql {
  const { columns, where, parameters } = sqlOfLines(question, by);
  if (kind === "chargeback") {
    const months = monthsIn(span).map(dateText);
    return {
      columns,
      where: `${where} AND billing_period IN {months:Array(Date)} AND from_at < ${momentSql("until")} AND from_at >= ${EARLIEST}`,
      parameters: { ...parameters, months, from: span.from, until: span.until },
    };
  }
  return {
    columns,
    where: `${where} AND from_at >= ${momentSql("from")} AND from_at < ${momentSql("until")}`,
    parameters: { ...parameters, from: span.from, until: span.until },
  };
}

/**
 * SQL for the earliest time of the lines that are booked in some months. Corrections are of earlier months, and the store need not read all
 * of these.
 */
const EARLIEST = `toStartOfDay(least(${momentSql("from")}, (
  SELECT min(toDateTime64(window_start, 3, 'UTC')) FROM charge_runs WHERE billing_period IN {months:Array(Date)})), 'UTC')`;

/** Returns the same SQL for lines of any time. */
export function sqlOfLines(
  { policy, where }: Pick<ChargesQuestion, "policy" | "where">,
  by: readonly string[] = [],
): QuestionSql {
  const parameters: Record<string, unknown> = { policy };
  const labels = new Map<string, string>();
  const columnOf = (dimension: string): string => {
    const label = labelOfDimension(dimension);
    if (label === undefined) return COLUMNS[dimension as ChargeDimension];
    const name = labels.get(label) ?? `label${labels.size}`;
    labels.set(label, name);
    parameters[name] = label;
    return `labels[{${name}:String}]`;
  };
  const terms = [
    "policy = {policy:String}",
    ...where.map(({ dimension, values }, index) => {
      parameters[`values${index}`] = values;
      return `${columnOf(dimension)} IN {values${index}:Array(String)}`;
    }),
  ];
  return { columns: by.map(columnOf), where: terms.join(" AND "), parameters };
}

/** Returns the SQL of a parameter in milliseconds since the epoch as a time. */
export function momentSql(parameter: string): string {
  return `fromUnixTimestamp64Milli({${parameter}:Int64})`;
}

/** The SQL of dimensions that differ from their column. */
const COMPUTED: Readonly<Partial<Record<ChargeDimension, string>>> = {
  gpu: "ifNull(toString(slot), '')",
  chargeDay: "formatDateTime(from_at, '%Y-%m-%d', 'UTC')",
  chargePeriod: "formatDateTime(from_at, '%Y-%m', 'UTC')",
  billingPeriod: "formatDateTime(billing_period, '%Y-%m')",
  unpriced: "if(effective_cost IS NULL, 'true', '')",
};

const COLUMNS = {
  ...Object.fromEntries(CHARGE_COLUMNS.map(({ as, name }) => [as, name])),
  ...COMPUTED,
} as Readonly<Record<ChargeDimension, string>>;

/** Dimensions of time. Groups by them have no earlier time for a comparison. */
const TIMES: ReadonlySet<string> = new Set<ChargeDimension>(["chargeDay", "chargePeriod", "billingPeriod"]);

/** Returns true if the rows of a question can be compared with those of the time before. */
export function hasTrend({ by }: Pick<ReportQuestion, "by">): boolean {
  return !by.some((name) => TIMES.has(name));
}

/** Returns true if the rows of a question are in order of time. */
export function beginsWithTime({ by: [first = ""] }: Pick<ReportQuestion, "by">): boolean {
  return TIMES.has(first);
}

/** Returns a dimension as a heading for people: `Cost center`, `run-id`. */
export function titleOfDimension(name: string): string {
  if (name.startsWith(LABEL_DIMENSION)) return name.slice(LABEL_DIMENSION.length);
  return TITLES[name] ?? name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const TITLES: Readonly<Record<string, string>> = {
  costCenter: "cost center",
  gpu: "GPU",
  gpuModel: "GPU model",
  type: "workload type",
  chargeDay: "day",
  chargePeriod: "month",
};
