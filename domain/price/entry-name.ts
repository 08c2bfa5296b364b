import { momentText } from "../time.ts";
import type { Match } from "./book.ts";
import { pathOf, problemAt, type PriceProblem } from "./problem.ts";

/** The longest name of an entry that a book may give. */
const MOST_CHARACTERS = 100;

/** An entry of a price book as far as its name goes. */
interface Named {
  readonly key: string;
  readonly name: string;
  readonly isNamed: boolean;
}

/**
 * The name of an entry that the book gives none: what the entry is for and since when, `H100 reserved from 2025-01-01`. It stays the same
 * when entries are put above it.
 */
export function derivedName(match: Match, fromMillis: number, machines: readonly string[] = []): string {
  const { nodeLabels, model, instanceType, capacityType, pool, region, zone, cluster } = match;
  const keys = [model, instanceType, capacityType, pool, region, zone, cluster].filter((key) => key !== undefined);
  const labels = Object.entries(nodeLabels).map(([name, value]) => `${name}=${value}`);
  const what = [...keys, ...labels, ...machines].join(" ");
  return `${what === "" ? "everything" : what} from ${momentText(fromMillis)}`;
}

/** Entries whose derived names are all different: the second one with a name gets a number. */
export function withDistinctNames<Entry extends Named>(entries: readonly Entry[]): readonly Entry[] {
  const counts = new Map<string, number>();
  return entries.map((entry) => {
    const count = (counts.get(entry.name) ?? 0) + 1;
    counts.set(entry.name, count);
    return count === 1 || entry.isNamed ? entry : { ...entry, name: `${entry.name} (${count})` };
  });
}

/** Problems of the names that a book gives: two entries with one name, and names that are too long. */
export function nameProblems(entries: readonly Named[]): readonly PriceProblem[] {
  const seen = new Map<string, string>();
  return entries.flatMap(({ key, name, isNamed }) => {
    const path = [...pathOf(key), "name"];
    if (isNamed && name.length > MOST_CHARACTERS)
      return [problemAt(path, name, `a name of at most ${MOST_CHARACTERS} characters`)];
    const other = seen.get(name);
    seen.set(name, key);
    return other === undefined || !isNamed
      ? []
      : [problemAt(path, name, `a name that no other entry has: ${other} has it`)];
  });
}
