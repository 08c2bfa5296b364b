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

/** Splits a list into portions of at most `most` items, whose sizes sum to at most `size`. A larger item is a portion of its own. */
export function slicesBySize<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  { most, size }: { readonly most: number; readonly size: number },
): readonly (readonly Item[])[] {
  const slices: Item[][] = [];
  let sum = 0;
  for (const item of items) {
    const own = sizeOf(item);
    const last = slices.at(-1);
    if (last === undefined || last.length === most || sum + own > size) {
      slices.push([item]);
      sum = own;
    } else {
      last.push(item);
      sum += own;
    }
  }
  return slices;
}
