import { LineCounter, parseDocument, visit, type Document, type YAMLParseError } from "yaml";
import type { z } from "zod";
import type { FileProblem } from "./file-problem.ts";
import { createNearKey } from "./near-key.ts";
import { DEPTH_FORM, excessOf, MOST_DEPTH } from "./yaml-bounds.ts";
import { fillVariables, keyOf, valuesOf } from "./yaml-values.ts";

/**
 * Parses a YAML text by a schema. Returns the value, or all problems at once. With `env`, `${NAME}` and `${NAME:-default}` in texts are
 * replaced first.
 *
 * @param options.keys where the keys are described, for the author of an unknown one
 */
export function readYaml<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  options: { readonly env?: NodeJS.ProcessEnv; readonly keys: string },
): { readonly value: z.output<Schema> } | { readonly problems: readonly FileProblem[] } {
  const lines = new LineCounter();
  const excess = excessOf(text);
  if (excess !== undefined) return { problems: [{ key: "(YAML)", ...excess }] };
  const document = parseDocument(text, { lineCounter: lines, ...PARSING });
  const values = valuesOf(document);
  const faults = [
    ...document.errors.map((error) => ({ at: error.pos[0], allowed: syntaxText(error) })),
    ...values.repeated.map(({ range }) => ({ at: range?.[0] ?? 0, allowed: "Map keys must be unique" })),
  ].slice(0, MOST_SYNTAX_PROBLEMS);
  if (faults.length > 0)
    return { problems: faults.map(({ at, allowed }) => ({ key: "(YAML)", line: lines.linePos(at).line, allowed })) };
  const { missing, filled } = fillVariables(values, options.env);
  const expanded = expand(document, lines);
  if ("problem" in expanded) return { problems: [expanded.problem] };
  const { raw } = expanded;
  const result = schema.safeParse(raw, { error: allowedOf });
  const nodes = new Map(values.all);
  const lineOf: LineOf = (key) => {
    const start = nodes.get(key)?.range?.[0];
    return start === undefined ? undefined : lines.linePos(start).line;
  };
  const unset = missing.map(({ key, name }) => ({
    ...located(key, lineOf(key)),
    value: `\${${name}}`,
    allowed: `a variable that is set; ${name} is not (or write \${${name}:-default})`,
  }));
  const unsetKeys = new Set(unset.map(({ key }) => key));
  const nearKey = createNearKey(schema);
  const unknownKey = (path: readonly PropertyKey[]): string => {
    const near = nearKey(path);
    return `no such key${near === undefined ? "" : `, the nearest is ${near}`}; ${options.keys}`;
  };
  const invalid = result.success
    ? []
    : result.error.issues.flatMap((issue) => toProblems(issue, raw, lineOf, unknownKey));
  const problems = [
    ...unset,
    ...invalid
      .filter(({ key }) => !unsetKeys.has(key))
      // The value of a variable can be a secret, whatever its key is.
      .map(({ value, ...problem }) =>
        value === undefined || filled.has(problem.key) ? problem : { ...problem, value },
      ),
  ];
  return result.success && problems.length === 0 ? { value: result.data } : { problems };
}

/**
 * Tags such as !!set and !!binary are not read: their values are no mappings, lists or texts. The library compares each key of a mapping
 * with all others to find repeated keys, so `valuesOf` finds them.
 */
const PARSING = { prettyErrors: false, resolveKnownTags: false, uniqueKeys: false, logLevel: "error" } as const;
/** The first error of a syntax is one that its author can mend. Later ones follow from it. */
const MOST_SYNTAX_PROBLEMS = 5;
/** Errors whose message has a tag or a directive of the file. */
const OF_A_TAG: ReadonlySet<string> = new Set(["TAG_RESOLVE_FAILED", "BAD_DIRECTIVE", "BAD_COLLECTION_TYPE"]);

/** Returns the message of a syntax error without the part of the file that it can contain, because the part can be a secret. */
function syntaxText({ code, message }: YAMLParseError): string {
  if (code === "BAD_DQ_ESCAPE") return "Invalid escape sequence";
  return OF_A_TAG.has(code) ? "a tag or a directive that YAML has" : message.replace(/(?<=[\w)]): [^]*$/, "");
}

/** Returns the plain value of a document. Returns a problem if its aliases are too many, too deep, without an anchor, or within their anchor. */
function expand(document: Document, lines: LineCounter): { readonly raw: unknown } | { readonly problem: FileProblem } {
  try {
    const raw: unknown = document.toJS() ?? {};
    const allowed = objectionTo(raw, new Set());
    return allowed === undefined ? { raw } : { problem: { key: "(YAML)", allowed } };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    const line = unresolvedAlias(document, lines);
    if (line !== undefined)
      return { problem: { key: "(YAML)", line, allowed: "an alias must have an anchor before it" } };
    return { problem: { key: "(YAML)", allowed: "aliases of aliases make the file too large" } };
  }
}

/** Returns the line of the first alias without an anchor. */
function unresolvedAlias(document: Document, lines: LineCounter): number | undefined {
  let line: number | undefined;
  visit(document, {
    Alias(_, node) {
      if (node.resolve(document) !== undefined) return undefined;
      line = lines.linePos(node.range?.[0] ?? 0).line;
      return visit.BREAK;
    },
  });
  return line;
}

/** Returns why a value is refused: an alias makes it endless, or too deep. */
function objectionTo(value: unknown, around: Set<unknown>): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (around.has(value)) return "an anchor must not hold an alias of itself";
  if (around.size >= MOST_DEPTH) return DEPTH_FORM;
  around.add(value);
  for (const inner of Object.values(value)) {
    const objection = objectionTo(inner, around);
    if (objection !== undefined) return objection;
  }
  around.delete(value);
  return undefined;
}

/** Returns what is allowed, for issues without a message of their own. */
function allowedOf(issue: { readonly code: string; readonly expected?: unknown }): string | undefined {
  if (issue.code !== "invalid_type") return undefined;
  return KINDS[String(issue.expected)] ?? `of the type ${String(issue.expected)}`;
}

const KINDS: Readonly<Record<string, string>> = {
  object: "a mapping",
  record: "a mapping",
  array: "a list",
  tuple: "a list",
  string: "a text",
  number: "a number",
  boolean: "true or false",
};

const STRUCTURES: ReadonlySet<string> = new Set(["object", "record", "array", "tuple"]);

interface Issue {
  readonly code?: string;
  readonly expected?: unknown;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

/** Returns the line of the value of a key. */
type LineOf = (key: string) => number | undefined;

function toProblems(
  issue: Issue,
  raw: unknown,
  lineOf: LineOf,
  unknownKey: (path: readonly PropertyKey[]) => string,
): FileProblem[] {
  if (issue.code === "unrecognized_keys") {
    return (issue.keys ?? []).map((key) => {
      const path = [...issue.path, key];
      return { ...locate(path, lineOf), value: valueAt(raw, path), allowed: unknownKey(path), isUnknownKey: true };
    });
  }
  const value = valueAt(raw, issue.path);
  const allowed = value === undefined && issue.code !== "custom" ? `required: ${issue.message}` : issue.message;
  // A text in the place of a mapping can be a secret without its key.
  const isHidden = typeof value === "string" && STRUCTURES.has(String(issue.expected));
  return [
    {
      ...locate(issue.path, lineOf),
      ...(value === undefined ? {} : { value }),
      allowed,
      ...(isHidden ? { isHidden } : {}),
    },
  ];
}

/** Returns the key of a path, and the line of its value or of the nearest value around it. */
function locate(path: readonly PropertyKey[], lineOf: LineOf): { key: string; line?: number } {
  let line: number | undefined;
  for (let length = path.length; length > 0 && line === undefined; length--)
    line = lineOf(keyOf(path.slice(0, length)));
  return located(keyOf(path), line);
}

function located(key: string, line: number | undefined): { key: string; line?: number } {
  return { key: key === "" ? "(the whole file)" : key, ...(line === undefined ? {} : { line }) };
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[part] : undefined,
    raw,
  );
}
