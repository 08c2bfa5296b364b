import type { Origin, Part } from "./part.ts";

/**
 * Groups rows that are in the order of their origins. Yields the parts of each origin with at least one requested part. `keys` are the
 * columns that an origin's rows have in common.
 */
export async function* byOrigin<Row>(
  portions: AsyncIterable<readonly Row[]>,
  keys: readonly string[],
  partOf: (row: Row, origin: Origin | undefined) => Part,
): AsyncGenerator<readonly [Part, ...Part[]]> {
  let parts: Part[] = [];
  let key = "";
  const isWanted = (): boolean => parts.some(({ isAskedFor }) => isAskedFor);
  for await (const rows of portions)
    for (const row of rows) {
      const own = JSON.stringify(keys.map((name) => row[name as keyof Row]));
      if (own !== key) {
        if (isWanted()) yield parts as [Part];
        [parts, key] = [[], own];
      }
      parts.push(partOf(row, parts[0]?.origin));
    }
  if (isWanted()) yield parts as [Part];
}
