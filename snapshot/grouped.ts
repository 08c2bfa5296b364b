/** Returns items by a key of several parts, in the order of the first item of each key. {@link keyOf} makes the key. */
export function grouped<Item>(
  items: Iterable<Item>,
  partsOf: (item: Item) => readonly string[],
): ReadonlyMap<string, readonly [Item, ...Item[]]> {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const key = keyOf(...partsOf(item));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Returns the key of some parts. */
export function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
