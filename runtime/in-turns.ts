/**
 * Works on all items, so many of them at once, beginning them in their order. After a failure none is begun; when those that were
 * begun have ended, the first failure is thrown.
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

/** A list in portions of so many. */
export function slicesOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** What is made of each item, in their order; while one is worked on, the next is being made. */
export async function* oneAhead<Item, Made>(
  items: readonly Item[],
  make: (item: Item) => Promise<Made>,
): AsyncGenerator<Made> {
  let next: Promise<Made> | undefined;
  for (const [index, item] of items.entries()) {
    const current = await (next ?? make(item));
    const following = items[index + 1];
    next = following === undefined ? undefined : make(following);
    // Whoever stops in between hears of no failure of what was made for nothing.
    next?.catch(() => {});
    yield current;
  }
}
