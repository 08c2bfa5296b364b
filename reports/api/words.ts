import { z } from "zod";
import { CHARGE_DIMENSIONS, readDimensions } from "../../domain/charge/dimension.ts";
import { PERIOD_FORM, periodOf, readPeriod, type BillingPeriod } from "../../domain/period.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import { readFilters, REPORT_KINDS } from "../question/question.ts";
import { readSpan, SPAN_FORM } from "../question/span.ts";

/** The limits of dimensions, conditions and values in one question. Larger questions are for the database itself. */
const MOST_DIMENSIONS = 6;
const MOST_CONDITIONS = 20;
const MOST_VALUES = 10_000;
const MOST_SPAN_MILLIS = 400 * DAY_MILLIS;

/** Reads a text with a reader whose errors are sentences. */
export function readText<Value extends object>(
  reader: (text: string) => Value | { readonly error: string },
): (text: string, context: z.RefinementCtx) => Value {
  return (text, context) => {
    const value = reader(text);
    if (!("error" in value)) return value;
    context.addIssue({ code: "custom", message: value.error });
    return z.NEVER;
  };
}

/** Returns the parameter `by` for a kind of dimensions, which `names` lists. */
export function dimensions<By extends string>(
  reader: (text: string) => { readonly by: readonly By[] } | { readonly error: string },
  standard: string,
  names: string,
) {
  return z
    .string()
    .default(standard)
    .transform(readText(reader))
    .refine(({ by }) => by.length <= MOST_DIMENSIONS, { error: `at most ${MOST_DIMENSIONS} dimensions` })
    .describe(`The dimensions of the rows, separated by commas: ${names}.`);
}

/** Returns the parameter `where` for a kind of conditions. */
export function conditions(reader: typeof readFilters, example: string) {
  return z
    .union([z.string(), z.array(z.string())])
    .optional()
    .transform((given) => (given === undefined ? [] : typeof given === "string" ? [given] : given))
    .refine((given) => given.length <= MOST_CONDITIONS, { error: `at most ${MOST_CONDITIONS} conditions` })
    .transform((given, context) => {
      const filters = reader(given);
      if ("error" in filters) context.addIssue({ code: "custom", message: filters.error });
      return "error" in filters ? z.NEVER : filters.where;
    })
    .refine((where) => where.reduce((sum, { values }) => sum + values.length, 0) <= MOST_VALUES, {
      error: `at most ${MOST_VALUES} values`,
    })
    .describe(`A condition, such as ${example}. The parameter can be repeated: all conditions must hold.`);
}

/** Creates the parameters of questions, with the API's names. */
export function createWords(now: () => number) {
  const span = (text: string): ReturnType<typeof readSpan> => {
    const named = readSpan(text, now());
    if ("error" in named || named.span.until - named.span.from <= MOST_SPAN_MILLIS) return named;
    return { error: `${text} is longer than 400 days` };
  };
  const month = (text: string, context: z.RefinementCtx): BillingPeriod => {
    const period = readPeriod(text);
    if (period !== undefined) return period;
    context.addIssue({ code: "custom", message: `${JSON.stringify(text)} is not ${PERIOD_FORM}` });
    return z.NEVER;
  };
  return {
    span: z.string().default("month").transform(readText(span)).describe(`The time of the question: ${SPAN_FORM}.`),
    compare: z
      .string()
      .optional()
      .transform((text, context) => (text === undefined || text === "" ? undefined : readText(span)(text, context)))
      .describe("The time to compare with. Default: an equal time before the span."),
    period: z
      .string()
      .default("")
      .transform((text, context) => (text === "" ? periodOf(now()) : month(text, context)))
      .describe("A billing period, such as 2026-03. Default: the running one."),
    month: z
      .string()
      .optional()
      .transform((text, context) => (text === undefined || text === "" ? undefined : month(text, context)))
      .describe("A billing period, such as 2026-03. Default: all."),
    kind: z
      .enum(REPORT_KINDS)
      .default("showback")
      .describe("showback: the usage in the span. chargeback: the bookings in its whole months."),
    by: dimensions(readDimensions, "team", `${CHARGE_DIMENSIONS.join(", ")}, label.<name>`),
    where: conditions(readFilters, "team=vision,nlp"),
    policy: z.string().optional().describe("A policy with kept charges. Default: the billing policy."),
    limit: z.coerce.number().int().min(1).max(1_000).default(100).describe("The number of rows of a page."),
    cursor: z.string().max(8_000).optional().describe("The start of the page: `next` of the page before."),
  };
}

/** See {@link createWords}. */
export type Words = ReturnType<typeof createWords>;

/** An exact decimal as a text. */
export const decimal = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .describe("An exact decimal.");

/** A time in ISO 8601, UTC. */
export const time = z.iso.datetime();
