/**
 * Runs `work` on all items, at most `atOnce` at the same time, in the order of the items. After a failure it starts no more. When the
 * started ones have ended, it throws the first failure.
 */
export async function inTurns<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const left = items.entries();
  async function turn(): Promise<void> {
    for (let next = left.next(); next.done !== true && failures.length === 0; next = left.next()) {
      const [index, item] = next.value;
      await work(item, index).catch((error: unknown) => failures.push(error));
    }
  }
  await Promise.all(Array.from({ length: atOnce }, turn));
  if (failures.length > 0) throw failures[0];
}

/** Splits a list into portions of `size` items. */
export function slicesOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
