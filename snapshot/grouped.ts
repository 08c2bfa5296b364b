import { groupedBy } from "../domain/grouped.ts";

/** Returns items by a key of several parts, in the order of the first item of each key. {@link keyOf} makes the key. */
export function grouped<Item>(
  items: Iterable<Item>,
  partsOf: (item: Item) => readonly string[],
): ReadonlyMap<string, readonly [Item, ...Item[]]> {
  return groupedBy(items, (item) => keyOf(...partsOf(item)));
}

/** Returns the key of some parts. */
export function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
