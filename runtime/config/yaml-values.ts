import { isMap, isScalar, isSeq, type Document, type Node } from "yaml";

/** The values of a document. */
export interface YamlValues {
  /** In the order of the file, with keys such as `collector.jobs[0].name`. */
  readonly all: readonly (readonly [key: string, value: Node | null])[];
  /** Keys that their mapping already has. */
  readonly repeated: readonly Node[];
}

/** Returns the values of a document in one walk. Aliases are values of their own and are not followed. */
export function valuesOf(document: Document): YamlValues {
  const all: [string, Node | null][] = [];
  const repeated: Node[] = [];
  const walk = (value: Node | null, key: string): void => {
    all.push([key, value]);
    if (isMap(value)) {
      const names = new Set<string>();
      for (const pair of value.items) {
        const name = isScalar(pair.key) ? String(pair.key.value) : "?";
        if (isScalar(pair.key) && names.has(name)) repeated.push(pair.key);
        names.add(name);
        walk(pair.value as Node | null, keyWithin(key, name));
      }
    } else if (isSeq(value)) value.items.forEach((item, index) => walk(item as Node | null, keyWithin(key, index)));
  };
  walk(document.contents, "");
  return { all, repeated };
}

/** Returns the key of a path, such as `collector.jobs[0].name`. */
export function keyOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(keyWithin, "");
}

function keyWithin(key: string, part: PropertyKey): string {
  if (typeof part === "number") return `${key}[${part}]`;
  return key === "" ? String(part) : `${key}.${String(part)}`;
}

/** Replaces `${NAME}` and `${NAME:-default}` in every text, if there is `env`. Returns the names that are not set, and the replaced keys. */
export function fillVariables(
  { all }: YamlValues,
  env: NodeJS.ProcessEnv | undefined,
): { readonly missing: readonly { key: string; name: string }[]; readonly filled: ReadonlySet<string> } {
  const missing: { key: string; name: string }[] = [];
  const filled = new Set<string>();
  if (env === undefined) return { missing, filled };
  for (const [key, node] of all) {
    if (!isScalar(node) || typeof node.value !== "string") continue;
    // Behind the last brace no variable ends. A search there would read the rest of the text from each dollar sign.
    const end = node.value.lastIndexOf("}") + 1;
    const text = node.value.slice(0, end).replace(VARIABLE, (_, name: string, fallback?: string) => {
      const value = env[name] ?? fallback;
      if (value === undefined) missing.push({ key, name });
      else filled.add(key);
      return value ?? "";
    });
    node.value = text + node.value.slice(end);
  }
  return { missing, filled };
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;
