import type { StoreClient } from "../../runtime/store/client.ts";
import { byOccasion } from "./delivery.ts";
import { objectionToRetry } from "./list.ts";
import { progressOf } from "./progress.ts";
import { readRecords, writeRecord, type Occasion } from "./records.ts";
import { OLDEST_MILLIS, periodName } from "./schedule.ts";

/** What is wanted tried again. */
export interface RetryRequest {
  readonly delivery: string;
  /** All where they are left out. */
  readonly recipient?: string | undefined;
  readonly period?: string | undefined;
}

/** Nothing can be tried again; the message says why. */
export class RetryError extends Error {
  readonly code = "retry-refused";
  readonly retriable = false;

  constructor(message: string) {
    super(message);
    this.name = "RetryError";
  }
}

/**
 * Wants what was given up, or failed, tried again at once, with a new round of attempts, and gives what that is. Fails with a
 * {@link RetryError} where there is nothing of the sort, and says of each why; with a `StoreError`.
 */
export async function retryDeliveries(
  store: StoreClient,
  { delivery, recipient, period }: RetryRequest,
  { by, why }: { readonly by: string; readonly why: string },
  now: number,
): Promise<readonly Occasion[]> {
  const asked = (occasion: Occasion): boolean =>
    occasion.delivery === delivery &&
    (recipient === undefined || occasion.recipient === recipient) &&
    (period === undefined || periodName(occasion) === period);
  const found = [...byOccasion((await readRecords(store, now - OLDEST_MILLIS)).filter(asked)).values()];
  const named = [delivery, ...(recipient === undefined ? [] : [`to ${recipient}`]), period ?? []].flat().join(" ");
  if (found.length === 0) throw new RetryError(`${named}: nothing of the last 92 days was tried`);
  const refused = found.map((records) => ({ records, objection: objectionToRetry(records, now) }));
  const wanted = refused.filter(({ objection }) => objection === undefined).map(({ records }) => records);
  if (wanted.length === 0) {
    const told = refused.map(({ records: [first], objection }) => {
      return `${first!.delivery} to ${first!.recipient}, ${periodName(first!)}: ${objection}`;
    });
    throw new RetryError(told.join("\n"));
  }
  for (const records of wanted) {
    const attempt = progressOf(records, now).last + 1;
    await writeRecord(store, records[0]!, { what: "retried", attempt, at: now, who: by, why });
  }
  return wanted.map(([first]) => first!);
}
