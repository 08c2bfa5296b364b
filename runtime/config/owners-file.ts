import { parse } from "csv-parse/sync";
import type { z } from "zod";
import { DIMENSIONS } from "../../domain/owner/owner.ts";
import { MATCH_KINDS, type OwnerRow } from "../../domain/owner/rule.ts";
import { instantOf, INSTANT_FORM } from "../../domain/price/instant.ts";
import { addFileIssues, fileOf } from "./side-file.ts";
import type { ConfigSources } from "./words.ts";
import type { FileProblem } from "./file-problem.ts";

const COLUMNS = ["kind", "match", ...DIMENSIONS, "from", "until"] as const;
type Column = (typeof COLUMNS)[number];

/** The rows of an owners file, or all of its problems. */
type ReadRows = { readonly value: readonly OwnerRow[] } | { readonly problems: readonly FileProblem[] };

/**
 * Reads finance's owners file: CSV with a header, with the columns in any order, separated by commas, or by semicolons if the header is.
 * Problems have the column as their key, and the line.
 */
export function readOwnersFile(text: string): ReadRows {
  const delimiter = /^[^\n,]*;/.test(text) ? ";" : ",";
  let records: { readonly record: string[]; readonly info: { readonly lines: number } }[];
  try {
    // The types of csv-parse omit `info`: https://csv.js.org/parse/options/info/
    records = parse(text, {
      bom: true,
      delimiter,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as typeof records;
  } catch (error) {
    return { problems: [{ key: "(CSV)", allowed: error instanceof Error ? error.message : String(error) }] };
  }
  const [header, ...rows] = records;
  const columns = header?.record ?? [];
  const wrong = problemsOfHeader(columns);
  if (wrong.length > 0) return { problems: wrong };
  const problems: FileProblem[] = [];
  const value = rows.flatMap(({ record, info }) => readRow(columns as Column[], record, info.lines, problems) ?? []);
  return problems.length > 0 ? { problems } : { value };
}

function problemsOfHeader(columns: readonly string[]): readonly FileProblem[] {
  const known: readonly string[] = COLUMNS;
  const unknown = columns.filter((name) => !known.includes(name));
  const twice = columns.filter((name, index) => columns.indexOf(name) < index);
  const missing = ["kind", "match"].filter((name) => !columns.includes(name));
  const allowed = `a known column; known are ${COLUMNS.join(", ")}`;
  return [
    ...unknown.map((value) => ({ key: "(header)", line: 1, value, allowed })),
    ...twice.map((value) => ({ key: "(header)", line: 1, value, allowed: "a column that the header names once" })),
    ...missing.map((name) => ({ key: "(header)", line: 1, allowed: `required: the column ${name}` })),
  ];
}

function readRow(
  columns: readonly Column[],
  record: readonly string[],
  line: number,
  problems: FileProblem[],
): OwnerRow | undefined {
  const before = problems.length;
  const complain = (key: string, value: unknown, allowed: string): void =>
    void problems.push({ key, line, ...(value === undefined ? {} : { value }), allowed });
  const cell = (column: Column): string | undefined => record[columns.indexOf(column)] || undefined;
  if (record.length > columns.length)
    complain("(row)", `${record.length} fields`, `at most the ${columns.length} of the header`);
  const kind = MATCH_KINDS.find((each) => each === cell("kind"));
  if (kind === undefined) complain("kind", cell("kind") ?? "", `one of: ${MATCH_KINDS.join(", ")}`);
  const match = cell("match");
  if (match === undefined) complain("match", undefined, "required: a name, a glob or a regular expression");
  const values = Object.fromEntries(
    DIMENSIONS.flatMap((dimension) => {
      const value = cell(dimension);
      return value === undefined ? [] : [[dimension, value] as const];
    }),
  );
  if (Object.keys(values).length === 0)
    complain("(row)", undefined, `required: a value of ${DIMENSIONS.join(", ")}, at least one`);
  const [from, until] = (["from", "until"] as const).map((column) => {
    const given = cell(column);
    const millis = given === undefined ? undefined : instantOf(given);
    if (given !== undefined && millis === undefined) complain(column, given, INSTANT_FORM);
    return millis;
  });
  if (from !== undefined && until !== undefined && until <= from) complain("until", cell("until"), "after from");
  if (kind === undefined || match === undefined || problems.length > before) return undefined;
  return {
    line,
    kind,
    match,
    values,
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
  };
}

/** Returns a schema for the path of an owners file, which is read while the configuration is parsed. */
export function ownersFile(sources: ConfigSources): z.ZodType<readonly OwnerRow[], string> {
  return fileOf("the path of a CSV file of owners").transform((path, context) =>
    addFileIssues(path, sources, readOwnersFile, "a file of owners", context),
  );
}
