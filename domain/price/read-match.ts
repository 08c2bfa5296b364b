import { openFields, readText, readTexts, readWord, report, type Fields } from "./fields.ts";
import type { Match } from "./book.ts";
import type { Path, PriceProblem } from "./problem.ts";

const TEXTS = ["cluster", "region", "zone", "instanceType", "pool", "model"] as const;
const CAPACITY_TYPES = ["on-demand", "spot", "reserved", "owned"] as const;

/** The keys that an entry can match, as they are written. */
const MATCH_KEYS: readonly string[] = [...TEXTS, "capacityType", "nodeLabel"];

/**
 * Reads the match of an entry. A node label is written as a mapping (`nodeLabel: { rack: r7 }`) or as a Kubernetes selector (`nodeLabel:
 * rack=r7`). Problems are collected, and the rest is read anyway.
 */
export function readMatch(raw: unknown, path: Path, problems: PriceProblem[]): Match {
  const fields = openFields(raw, path, MATCH_KEYS, problems);
  if (fields === undefined) return { nodeLabels: {} };
  const texts = TEXTS.flatMap((key) => {
    const text = readText(fields, key);
    return text === undefined ? [] : [[key, text] as const];
  });
  const capacityType = readWord(fields, "capacityType", CAPACITY_TYPES);
  return {
    ...Object.fromEntries(texts),
    ...(capacityType === undefined ? {} : { capacityType }),
    nodeLabels: readLabels(fields),
  };
}

function readLabels(fields: Fields): Readonly<Record<string, string>> {
  const raw = fields.values["nodeLabel"];
  if (typeof raw !== "string") return readTexts(fields, "nodeLabel");
  const [, name, value] = /^([^=\s]+)={1,2}([^=\s]*)$/.exec(raw) ?? [];
  if (name !== undefined && value !== undefined) return { [name]: value };
  report(fields, "nodeLabel", "a mapping such as { rack: r7 }, or a text such as rack=r7");
  return {};
}
