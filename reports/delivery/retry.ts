import type { StoreClient } from "../../runtime/store/client.ts";
import { byOccasion } from "./delivery.ts";
import { objectionToRetry } from "./list.ts";
import { progressOf } from "./progress.ts";
import { readRecords, writeRecord, type Occasion } from "./records.ts";
import { OLDEST_MILLIS, periodName } from "./schedule.ts";

/** A request to try deliveries again. */
export interface RetryRequest {
  readonly delivery: string;
  /** All if absent. */
  readonly recipient?: string | undefined;
  readonly period?: string | undefined;
}

/** No delivery can be tried again. The message contains the reason. */
export class RetryError extends Error {
  readonly code = "retry-refused";
  readonly retriable = false;

  constructor(message: string) {
    super(message);
    this.name = "RetryError";
  }
}

/**
 * Requests a new round of attempts for deliveries that failed or were given up. Returns these deliveries. Fails with a {@link RetryError}
 * if there are none; its message has the reason of each. Fails with a `StoreError`.
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
  if (found.length === 0) throw new RetryError(`${named}: no delivery of the last 92 days was tried`);
  const refused = found.map((records) => ({ records, objection: objectionToRetry(records, now) }));
  const wanted = refused.filter(({ objection }) => objection === undefined).map(({ records }) => records);
  if (wanted.length === 0) {
    const lines = refused.map(({ records: [first], objection }) => {
      return `${first!.delivery} to ${first!.recipient}, ${periodName(first!)}: ${objection}`;
    });
    throw new RetryError(lines.join("\n"));
  }
  for (const records of wanted) {
    const attempt = progressOf(records, now).last + 1;
    await writeRecord(store, records[0]!, { what: "retried", attempt, at: now, who: by, why });
  }
  return wanted.map(([first]) => first!);
}
