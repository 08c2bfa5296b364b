/** Returns items by their key, in the order of the first item of each key. */
export function groupedBy<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): ReadonlyMap<Key, readonly [Item, ...Item[]]> {
  const groups = new Map<Key, [Item, ...Item[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Returns items with equal keys together, in the order of the first item of each group. A key has parts. */
export function groupBy<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => readonly (string | undefined)[],
): readonly (readonly [Item, ...Item[]])[] {
  return [...groupedBy(items, (item) => JSON.stringify(keyOf(item))).values()];
}
