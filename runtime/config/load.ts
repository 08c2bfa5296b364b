import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isScalar, LineCounter, parseDocument, visit, type Document } from "yaml";
import { createConfigSchema, type Config } from "./schema.ts";

/** One thing that is wrong: where, what stands there, and what is allowed. */
export interface ConfigProblem {
  readonly key: string;
  readonly line?: number;
  readonly value?: unknown;
  readonly allowed: string;
}

/** Everything that is wrong with a configuration, at once. */
export class ConfigError extends Error {
  readonly code = "invalid-configuration";
  readonly source: string;
  readonly problems: readonly ConfigProblem[];

  constructor(source: string, problems: readonly ConfigProblem[]) {
    super([`${source} is not a valid configuration:`, ...problems.map(describe)].join("\n"));
    this.name = "ConfigError";
    this.source = source;
    this.problems = problems;
  }
}

/** Where a configuration is looked for when none is named. */
export const DEFAULT_PLACES: readonly string[] = ["gpu-ledger.yaml", "/etc/gpu-ledger/gpu-ledger.yaml"];

/** A configuration and the file that it came from; no file where the defaults alone hold. */
export interface LoadedConfig {
  readonly config: Config;
  readonly path: string | undefined;
}

/** Loads the named file, else the first default place that exists, else the defaults. Fails with {@link ConfigError}. */
export function loadConfig(path: string | undefined, env: NodeJS.ProcessEnv): LoadedConfig {
  const found = path ?? DEFAULT_PLACES.find((place) => existsSync(place));
  if (found === undefined) return { config: parseConfig("", { source: "the default", folder: ".", env }), path: found };
  let text: string;
  try {
    text = readFileSync(found, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(found, [{ key: "--config", value: found, allowed: `a file that can be read (${why})` }]);
  }
  return { config: parseConfig(text, { source: found, folder: dirname(found), env }), path: found };
}

/** Reads a configuration from its YAML text; relative paths of secrets and certificates start at `folder`. */
export function parseConfig(
  text: string,
  options: { readonly source: string; readonly folder: string; readonly env: NodeJS.ProcessEnv },
): Config {
  const { source, folder, env } = options;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      key: "(YAML)",
      line: lines.linePos(error.pos[0]).line,
      allowed: error.message,
    }));
    throw new ConfigError(source, problems);
  }
  const missing = fillVariables(document, env);
  const raw: unknown = document.toJS() ?? {};
  const schema = createConfigSchema({ env, readFile: (path) => readFileSync(resolve(folder, path), "utf8") });
  const result = schema.safeParse(raw);
  const lineOf = (path: readonly PropertyKey[]): number | undefined => lineAt(document, lines, path);
  const unset = missing.map(({ path, name }) => ({
    ...locate(path, lineOf),
    value: `\${${name}}`,
    allowed: `a variable that is set; ${name} is not (or write \${${name}:-default})`,
  }));
  const invalid = result.success ? [] : result.error.issues.flatMap((issue) => toProblems(issue, raw, lineOf));
  const problems = [...unset, ...invalid.filter(({ key }) => !unset.some((other) => other.key === key))];
  if (result.success && problems.length === 0) return result.data;
  throw new ConfigError(source, problems);
}

interface Issue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

type LineOf = (path: readonly PropertyKey[]) => number | undefined;

function toProblems(issue: Issue, raw: unknown, lineOf: LineOf): ConfigProblem[] {
  if (issue.code === "unrecognized_keys") {
    return (issue.keys ?? []).map((key) => {
      const path = [...issue.path, key];
      return { ...locate(path, lineOf), value: valueAt(raw, path), allowed: "no such key; see the annotated example" };
    });
  }
  const value = valueAt(raw, issue.path);
  const allowed = value === undefined && issue.code !== "custom" ? `required: ${issue.message}` : issue.message;
  return [{ ...locate(issue.path, lineOf), ...(value === undefined ? {} : { value }), allowed }];
}

function locate(path: readonly PropertyKey[], lineOf: LineOf): { key: string; line?: number } {
  const key = path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
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

/** Puts `${NAME}` and `${NAME:-default}` in place of themselves in every text; tells which names are not set. */
function fillVariables(document: Document, env: NodeJS.ProcessEnv): { path: PropertyKey[]; name: string }[] {
  const missing: { path: PropertyKey[]; name: string }[] = [];
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === "key" || typeof node.value !== "string") return;
      node.value = node.value.replace(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (_, name: string, fallback?: string) => {
        const value = env[name] ?? fallback;
        if (value === undefined) missing.push({ path: pathOf(node, ancestors), name });
        return value ?? "";
      });
    },
  });
  return missing;
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

function describe({ key, line, value, allowed }: ConfigProblem): string {
  const place = line === undefined ? key : `${key} (line ${line})`;
  return value === undefined ? `  ${place}: ${allowed}` : `  ${place}: ${JSON.stringify(value)} is not ${allowed}`;
}
