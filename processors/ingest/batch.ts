import type { StoreClient } from "../../runtime/store/client.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import type { Rejected, Taken } from "./flusher.ts";
import { insertRows, type ScrapeRowWriter } from "./scrape-rows.ts";
import type { JoinedScrape } from "./steps/join.ts";

/** Returns the number of rows of a scrape: one for the scrape and one for each device. */
export function rowsOf({ scrape }: JoinedScrape): number {
  return scrape.shape.devices.length + 1;
}

/**
 * Inserts the rows of all scrapes. Fails with a retriable {@link StoreError} if a retry can help. Resolves with the items that the store
 * rejects.
 */
export function insertScrapes(
  store: StoreClient,
  writer: ScrapeRowWriter,
  items: readonly Taken<JoinedScrape>[],
): Promise<readonly Rejected<JoinedScrape>[]> {
  return insertOrHalve(items, async (some) => {
    for (const { value, message } of some) writer.append(value, message);
    await insertRows(store, writer.take());
  });
}

/**
 * Inserts items together. If the store rejects the rows, the items are halved until the rejected ones stand alone. Resolves with those; the
 * others are stored.
 */
export async function insertOrHalve<Value>(
  items: readonly Taken<Value>[],
  insert: (items: readonly Taken<Value>[]) => Promise<void>,
): Promise<readonly Rejected<Value>[]> {
  if (items.length === 0) return [];
  try {
    await insert(items);
    return [];
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "rejected") throw error;
    if (items.length === 1) return [{ item: items[0]!, error }];
    const half = items.length >> 1;
    const first = await insertOrHalve(items.slice(0, half), insert);
    return [...first, ...(await insertOrHalve(items.slice(half), insert))];
  }
}
