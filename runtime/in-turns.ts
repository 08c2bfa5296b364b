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

/** Yields the result of `make` for each item, in order. While the caller handles one result, the next is being made. */
export async function* oneAhead<Item, Made>(
  items: readonly Item[],
  make: (item: Item) => Promise<Made>,
): AsyncGenerator<Made> {
  let next: Promise<Made> | undefined;
  for (const [index, item] of items.entries()) {
    const current = await (next ?? make(item));
    const following = items[index + 1];
    next = following === undefined ? undefined : make(following);
    // If the caller stops early, a failure of the unused result is ignored.
    next?.catch(() => {});
    yield current;
  }
}
