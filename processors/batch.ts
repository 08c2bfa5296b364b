import type { OutgoingMessage, ReceivedMessage } from "../runtime/bus/bus.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { StoreError } from "../runtime/store/store-error.ts";
import { createScrapeRowWriter, SAMPLE_COLUMNS, SCRAPE_COLUMNS } from "./scrape-rows.ts";
import type { JoinedScrape } from "./steps/join.ts";

/** A message and what the pipeline made of it. */
export interface BatchItem {
  readonly message: ReceivedMessage;
  readonly joined: JoinedScrape;
  readonly takenAtMillis: number;
}

/** What waits for one insert and one commit. */
export interface Batch {
  readonly items: BatchItem[];
  readonly deadLetters: OutgoingMessage[];
  /** Everything of a partition before this offset is in the batch, or was handled before. */
  readonly positions: Map<number, number>;
  rows: number;
}

/** The rows of an item: one for the scrape, one for each device. */
export function rowsOf({ joined }: BatchItem): number {
  return joined.scrape.shape.devices.length + 1;
}

/** A batch with nothing in it. */
export function emptyBatch(): Batch {
  return { items: [], deadLetters: [], positions: new Map(), rows: 0 };
}

/**
 * Inserts the rows of all items: the samples first, then the scrapes, so that a scrape that is there has its samples.
 * Where the store rejects the rows as such, the batch is halved until the items that it will not take stand alone;
 * those are returned, the others are stored. Fails with a retriable {@link StoreError} where trying again can help.
 */
export async function insertItems(
  store: StoreClient,
  items: readonly BatchItem[],
): Promise<readonly { readonly item: BatchItem; readonly error: StoreError }[]> {
  if (items.length === 0) return [];
  const writer = createScrapeRowWriter();
  let rows = 0;
  for (const { joined, message } of items) rows += writer.append(joined, message);
  const { samples, scrapes } = writer.take();
  try {
    if (rows > 0) await store.insertRows("gpu_samples", SAMPLE_COLUMNS, samples);
    await store.insertRows("scrapes", SCRAPE_COLUMNS, scrapes);
    return [];
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "rejected") throw error;
    if (items.length === 1) return [{ item: items[0]!, error }];
    const half = items.length >> 1;
    const first = await insertItems(store, items.slice(0, half));
    return [...first, ...(await insertItems(store, items.slice(half)))];
  }
}
