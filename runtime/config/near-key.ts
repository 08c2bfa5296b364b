import { distance } from "fastest-levenshtein";
import { z } from "zod";

/** Words for the same thing. */
const SAME: readonly (readonly string[])[] = [
  ["address", "bind", "host", "listen", "port"],
  ["address", "brokers", "endpoint", "server", "servers", "url"],
  ["data", "dir", "directory", "file", "folder", "path"],
  ["every", "interval", "period", "step"],
  ["user", "username"],
];

/** The parts of a JSON schema that hold other schemas. */
interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/**
 * Creates a function that returns the key of a schema that the author of an unknown key most likely meant: the nearest by its letters, else one that
 * means the same, else `undefined`. Its parameter is the path of the unknown key.
 */
export function createNearKey(schema: z.ZodType): (path: readonly PropertyKey[]) => string | undefined {
  let whole: JsonSchema | undefined;
  return (path) => {
    whole ??= z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;
    let around = branchesOf(whole);
    for (const part of path.slice(0, -1)) around = around.flatMap((one) => insideOf(one, String(part)));
    return nearestOf(
      String(path.at(-1)).toLowerCase(),
      around.flatMap(({ properties = {} }) => Object.keys(properties)),
    );
  };
}

function nearestOf(word: string, keys: readonly string[]): string | undefined {
  const near = keys
    .map((key) => ({ key, letters: distance(word, key.toLowerCase()) }))
    .filter(({ key, letters }) => letters <= Math.max(1, Math.floor(Math.min(word.length, key.length) / 3)))
    .toSorted((one, other) => one.letters - other.letters);
  return near[0]?.key ?? keys.find((key) => SAME.some((words) => words.includes(word) && words.includes(key)));
}

function insideOf({ properties, additionalProperties, items }: JsonSchema, part: string): readonly JsonSchema[] {
  return [properties?.[part], additionalProperties, items].flatMap((inner) =>
    typeof inner === "object" ? branchesOf(inner) : [],
  );
}

/** Returns a schema and its alternatives. */
function branchesOf(schema: JsonSchema): readonly JsonSchema[] {
  const { anyOf = [], oneOf = [], allOf = [] } = schema;
  return [schema, ...[...anyOf, ...oneOf, ...allOf].flatMap(branchesOf)];
}
