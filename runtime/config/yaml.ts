import { isScalar, LineCounter, parseDocument, visit, type Document } from "yaml";
import type { z } from "zod";

/** A problem in a file: the key, the line, the value, and what is allowed. */
export interface FileProblem {
  readonly key: string;
  readonly line?: number;
  readonly value?: unknown;
  readonly allowed: string;
  /** Set if the key itself is wrong. `allowed` then describes keys, not values. */
  readonly isUnknownKey?: true;
}

/**
 * Parses a YAML text by a schema. Returns the value, or all problems at once. With `env`, `${NAME}` and `${NAME:-default}` in texts are
 * replaced first.
 */
export function readYaml<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  options: { readonly env?: NodeJS.ProcessEnv; readonly unknownKey: string },
): { readonly value: z.output<Schema> } | { readonly problems: readonly FileProblem[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    return {
      problems: document.errors.map((error) => ({
        key: "(YAML)",
        line: lines.linePos(error.pos[0]).line,
        allowed: error.message,
      })),
    };
  }
  const { missing, filled } = fillVariables(document, options.env);
  const expanded = expand(document);
  if ("problem" in expanded) return { problems: [expanded.problem] };
  const { raw } = expanded;
  const result = schema.safeParse(raw, { error: allowedOf });
  const lineOf = (path: readonly PropertyKey[]): number | undefined => lineAt(document, lines, path);
  const unset = missing.map(({ path, name }) => ({
    ...locate(path, lineOf),
    value: `\${${name}}`,
    allowed: `a variable that is set; ${name} is not (or write \${${name}:-default})`,
  }));
  const invalid = result.success
    ? []
    : result.error.issues.flatMap((issue) => toProblems(issue, raw, lineOf, options.unknownKey));
  const problems = [
    ...unset,
    ...invalid
      .filter(({ key }) => !unset.some((other) => other.key === key))
      // The value of a variable can be a secret, whatever its key is.
      .map(({ value, ...problem }) =>
        value === undefined || filled.has(problem.key) ? problem : { ...problem, value },
      ),
  ];
  return result.success && problems.length === 0 ? { value: result.data } : { problems };
}

/** Returns the plain value of a document. Returns a problem if aliases grow too large or an anchor contains itself. */
function expand(document: Document): { readonly raw: unknown } | { readonly problem: FileProblem } {
  try {
    const raw: unknown = document.toJS() ?? {};
    if (!holdsItself(raw, new Set())) return { raw };
    return { problem: { key: "(YAML)", allowed: "an anchor must not hold an alias of itself" } };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { problem: { key: "(YAML)", allowed: "aliases of aliases make the file too large" } };
  }
}

function holdsItself(value: unknown, around: Set<unknown>): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (around.has(value)) return true;
  around.add(value);
  const isCircular = Object.values(value).some((inner) => holdsItself(inner, around));
  around.delete(value);
  return isCircular;
}

/** Formats a problem as one line: the key, its line, the value and what is allowed. */
export function describeProblem({ key, line, value, allowed, isUnknownKey }: FileProblem): string {
  const where = line === undefined ? key : `${key} (line ${line})`;
  if (isUnknownKey === true || value === undefined) return `  ${where}: ${allowed}`;
  return `  ${where}: ${shownValue(key, value)} is not ${allowed}`;
}

/** Words in the keys of secrets, of hashes, and of texts that can contain a password. */
const SECRET_KEY = /pass|token|secret|key|credential|auth|sha256|hash|bearer|dsn|webhook/i;
/** A user with a password in an address, or the content of a PEM file, which can be a private key. */
const SECRET_TEXT = /\/\/[^/\s]*:[^/\s]*@|-----BEGIN/;

/** Returns the value of a key for a message: only a number, a truth value, or a text that cannot be a secret. */
function shownValue(key: string, value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a mapping";
  const isSecret = SECRET_KEY.test(key) || (typeof value === "string" && SECRET_TEXT.test(value));
  return isSecret ? "the value" : JSON.stringify(value);
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

interface Issue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

type LineOf = (path: readonly PropertyKey[]) => number | undefined;

function toProblems(issue: Issue, raw: unknown, lineOf: LineOf, unknownKey: string): FileProblem[] {
  if (issue.code === "unrecognized_keys") {
    return (issue.keys ?? []).map((key) => {
      const path = [...issue.path, key];
      return { ...locate(path, lineOf), value: valueAt(raw, path), allowed: unknownKey, isUnknownKey: true };
    });
  }
  const value = valueAt(raw, issue.path);
  const allowed = value === undefined && issue.code !== "custom" ? `required: ${issue.message}` : issue.message;
  return [{ ...locate(issue.path, lineOf), ...(value === undefined ? {} : { value }), allowed }];
}

function keyOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}

function locate(path: readonly PropertyKey[], lineOf: LineOf): { key: string; line?: number } {
  const key = keyOf(path);
  const line = lineOf(path);
  return { key: key === "" ? "(the whole file)" : key, ...(line === undefined ? {} : { line }) };
}

function lineAt(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as
      | { range?: readonly [number, number, number] }
      | undefined;
    if (node?.range !== undefined) return lines.linePos(node.range[0]).line;
  }
  return undefined;
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[part] : undefined,
    raw,
  );
}

/** Replaces `${NAME}` and `${NAME:-default}` in every text, if there is `env`. Returns the names that are not set, and the replaced keys. */
function fillVariables(
  document: Document,
  env: NodeJS.ProcessEnv | undefined,
): { readonly missing: readonly { path: PropertyKey[]; name: string }[]; readonly filled: ReadonlySet<string> } {
  const missing: { path: PropertyKey[]; name: string }[] = [];
  const filled = new Set<string>();
  if (env === undefined) return { missing, filled };
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === "key" || typeof node.value !== "string") return;
      node.value = node.value.replace(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
        const value = env[name] ?? fallback;
        if (value === undefined) missing.push({ path: pathOf(node, ancestors), name });
        else filled.add(keyOf(pathOf(node, ancestors)));
        return value ?? "";
      });
    },
  });
  return { missing, filled };
}

function pathOf(node: unknown, ancestors: readonly unknown[]): PropertyKey[] {
  const path: PropertyKey[] = [];
  const chain = [...ancestors, node];
  chain.forEach((part, index) => {
    const pair = part as { key?: unknown; items?: readonly unknown[] };
    if (isScalar(pair.key)) path.push(String(pair.key.value));
    else if (pair.items !== undefined) {
      const next = chain[index + 1] as { key?: unknown } | undefined;
      if (next !== undefined && !("key" in (next as object))) path.push(pair.items.indexOf(next));
    }
  });
  return path;
}
