import { modelNameLength } from "../gpu-model/names.ts";
import type { PriceEntry } from "./book.ts";
import { isGlob, literalLength } from "../glob.ts";

/** An entry with its rank: a list of numbers. The first number that differs decides, and the larger one wins. */
export interface RankedEntry {
  readonly entry: PriceEntry;
  readonly rank: readonly number[];
}

/** Sorts the entries of a book by rank, highest first. Entries of equal rank keep the order of the book. */
export function rankEntries(entries: readonly PriceEntry[]): readonly RankedEntry[] {
  const ranked = entries.map((entry) => ({ entry, rank: rankOf(entry) }));
  return ranked.toSorted((a, b) => compareRanks(b.rank, a.rank));
}

/**
 * Returns the rank of an entry (docs/prices.md): first the number of keys; then the kinds of keys in the order node label, instance type,
 * model by the length of its name, model glob by the length of its literal part, pool, capacity type, zone, region, cluster; then the latest `from`. An owned
 * machine's list of names is also a key, before all others, because a name is the most specific.
 */
export function rankOf(entry: PriceEntry): readonly number[] {
  const { cluster, region, zone, instanceType, pool, model, capacityType, nodeLabels } = entry.match;
  const isNamed = entry.per === "owned" && entry.owned.machines.length > 0 ? 1 : 0;
  const labels = Object.keys(nodeLabels).length;
  const exact = model === undefined || isGlob(model) ? 0 : 1 + modelNameLength(model);
  const glob = model === undefined || !isGlob(model) ? 0 : 1 + literalLength(model);
  const given = (key: string | undefined): number => (key === undefined ? 0 : 1);
  const keys = [cluster, region, zone, instanceType, pool, model, capacityType];
  return [
    keys.reduce((count, key) => count + given(key), isNamed + labels),
    isNamed,
    labels,
    given(instanceType),
    exact,
    glob,
    given(pool),
    given(capacityType),
    given(zone),
    given(region),
    given(cluster),
    entry.fromMillis,
  ];
}

/** Returns a negative number if the first rank loses, a positive number if it wins, and 0 if both are equal. */
export function compareRanks(one: readonly number[], other: readonly number[]): number {
  for (let index = 0; index < one.length; index++) {
    const [a, b] = [one[index] ?? 0, other[index] ?? 0];
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}
