import { parse } from "csv-parse/sync";
import { z } from "zod";
import type { InvoiceLine } from "../../domain/charge/invoice.ts";
import { parseAmount } from "../../domain/exact/units.ts";
import { minorDigitsOf } from "../../domain/price/currency.ts";
import { list, oneOf, text } from "./words.ts";
import type { FileProblem } from "./file-problem.ts";
import { readYaml } from "./yaml.ts";

const AMOUNT = 'an amount as text, such as "12345.67"';

const amount = z.string({ error: AMOUNT }).transform((written, context) => {
  const parsed = parseAmount<"currency">(written);
  if ("value" in parsed) return parsed.value;
  context.addIssue({ code: "custom", message: `${AMOUNT}: ${parsed.error}` });
  return z.NEVER;
});

/** The schema of a line of an invoice, as it is written in a file or a scenario. */
export const invoiceLine = z.strictObject({
  account: text("an account's name"),
  instanceType: text("an instance type"),
  capacityType: oneOf("on-demand", "spot", "reserved", "owned"),
  amount,
  currency: z
    .string({ error: "a currency of ISO 4217, such as USD" })
    .refine((code) => minorDigitsOf(code) !== undefined, { error: "a currency of ISO 4217, such as USD" }),
});

const invoice = list(invoiceLine);

/** The lines of an invoice, or all of its problems. */
export type ReadInvoice = { readonly value: readonly InvoiceLine[] } | { readonly problems: readonly FileProblem[] };

/**
 * Reads an invoice: a YAML list of `{ account, instanceType, capacityType, amount, currency }`, or CSV with these columns in any order.
 * Amounts are exact decimals, quoted in YAML: a number without quotes has been through floating-point arithmetic.
 */
export function readInvoice(written: string, format: "yaml" | "csv"): ReadInvoice {
  const read =
    format === "yaml" ? readYaml(written, invoice, { keys: `a line has ${COLUMNS.join(", ")}` }) : readCsv(written);
  if ("problems" in read) return read;
  if (read.value.length === 0) return { problems: [{ key: "(the whole file)", allowed: "at least one line" }] };
  return { value: read.value.map((line, index) => ({ key: `invoice[${index}]`, ...line })) };
}

const COLUMNS = Object.keys(invoiceLine.shape);
const UNKNOWN = `one of: ${COLUMNS.join(", ")}`;

type WrittenLines = readonly z.output<typeof invoiceLine>[];

function readCsv(written: string): { readonly value: WrittenLines } | { readonly problems: readonly FileProblem[] } {
  let records: { readonly record: Readonly<Record<string, string>>; readonly info: { readonly lines: number } }[];
  try {
    // The types of csv-parse omit `info`: https://csv.js.org/parse/options/info/
    records = parse(written, {
      bom: true,
      columns: true,
      delimiter: /^[^\n,]*;/.test(written) ? ";" : ",",
      info: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as typeof records;
  } catch (error) {
    return { problems: [{ key: "(CSV)", allowed: error instanceof Error ? error.message : String(error) }] };
  }
  const problems: FileProblem[] = [];
  const value = records.flatMap(({ record, info }) => {
    const result = invoiceLine.safeParse(record);
    if (result.success) return [result.data];
    for (const issue of result.error.issues) problems.push(...problemsOf(issue, record, info.lines));
    return [];
  });
  return problems.length > 0 ? { problems } : { value };
}

function problemsOf(
  issue: z.core.$ZodIssue,
  record: Readonly<Record<string, string>>,
  line: number,
): readonly FileProblem[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ key: "(header)", line: 1, value: key, allowed: UNKNOWN }));
  const key = String(issue.path[0]);
  const value = record[key];
  return [{ key, line, ...(value === undefined ? {} : { value }), allowed: issue.message }];
}
