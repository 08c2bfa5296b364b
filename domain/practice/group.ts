import { groupedBy } from "../grouped.ts";

/** Returns items with equal keys together, in the order of the first item of each group. */
export function groupBy<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => readonly (string | undefined)[],
): readonly (readonly [Item, ...Item[]])[] {
  return [...groupedBy(items, (item) => JSON.stringify(keyOf(item))).values()];
}
