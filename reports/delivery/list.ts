import { isoText } from "../../domain/time.ts";
import type { ConfiguredDelivery } from "../../runtime/config/deliveries.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { byOccasion, deliveriesOf, occasionKey, occasionOf, owedOf } from "./delivery.ts";
import { progressOf, type Progress, type Standing } from "./progress.ts";
import { readRecords, readSchedules, type DeliveryDetails, type DeliveryRecord, type Occasion } from "./records.ts";
import { OLDEST_MILLIS, periodName } from "./schedule.ts";

/** The state of a period's delivery to a recipient. `scheduled` is the next one, which is not due yet. */
export type DeliveryState = Standing["state"] | "scheduled";

/** A period's delivery to a recipient, for display. Times are ISO 8601, amounts exact decimal texts; null if there is none. */
export interface DeliveryStatus {
  readonly delivery: string;
  readonly recipient: string;
  readonly period: string;
  readonly from: string;
  readonly until: string;
  readonly due: string;
  readonly state: DeliveryState;
  /** The time of the last change of state. */
  readonly at: string | null;
  /** The reason why the delivery waits, failed or was given up. */
  readonly reason: string | null;
  readonly tries: number;
  readonly nextTry: string | null;
  /** The delivered file. */
  readonly file: string | null;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly cost: string | null;
  readonly currency: string | null;
  readonly gpuHours: string | null;
  /** True if the configuration still has the delivery and the recipient. Otherwise nobody sends it. */
  readonly isConfigured: boolean;
}

/**
 * Returns the deliveries that became due in the last 92 days, and the next ones, by delivery and recipient, newest period first. Fails with
 * a `StoreError`.
 */
export async function listDeliveries(
  store: StoreClient,
  configured: readonly ConfiguredDelivery[],
  now: number,
): Promise<readonly DeliveryStatus[]> {
  const [schedules, records] = await Promise.all([readSchedules(store), readRecords(store, now - OLDEST_MILLIS)]);
  const deliveries = deliveriesOf(configured);
  const known = byOccasion(records);
  const occasions = new Map<string, Occasion>(records.map((record) => [occasionKey(record), record]));
  for (const delivery of deliveries)
    for (const occasion of owedOf(delivery, schedules, now))
      if (!occasions.has(occasionKey(occasion))) occasions.set(occasionKey(occasion), occasion);
  const names = new Set(deliveries.map(({ configured: { name }, recipient }) => `${name} ${recipient.name}`));
  const due = [...occasions].map(([key, occasion]) =>
    statusOf(occasion, progressOf(known.get(key) ?? [], now), names.has(`${occasion.delivery} ${occasion.recipient}`)),
  );
  const next = deliveries.flatMap((delivery) => {
    const period = delivery.periods.next(now);
    return period === undefined ? [] : scheduled(occasionOf(delivery, period));
  });
  return [...due, ...next].toSorted(
    (a, b) => compare(a.delivery, b.delivery) || compare(a.recipient, b.recipient) || compare(b.from, a.from),
  );
}

/** Returns the reason why an occasion cannot be tried again, in a sentence; undefined if it can. */
export function objectionToRetry(records: readonly DeliveryRecord[], now: number): string | undefined {
  const { standing } = progressOf(records, now);
  switch (standing.state) {
    case "given up":
    case "failed":
      return undefined;
    case "delivered":
      return `it was delivered at ${isoText(standing.at)}, and a delivery is sent only once`;
    case "under way":
      return `it has been under way since ${isoText(standing.at)}`;
    case "due":
      return "it is due, and is tried automatically";
    case "waiting":
      return `it waits, and is tried automatically: ${standing.reason}`;
  }
}

function scheduled(occasion: Occasion): DeliveryStatus {
  return { ...statusOf(occasion, { standing: { state: "due" }, tries: 0 }, true), state: "scheduled" };
}

function statusOf(
  occasion: Occasion,
  { standing, tries }: Pick<Progress, "standing" | "tries">,
  isConfigured: boolean,
): DeliveryStatus {
  const { delivery, recipient, from, until, due } = occasion;
  const details: DeliveryDetails = standing.state === "delivered" ? standing.details : {};
  const text = (key: string): string | null => (typeof details[key] === "string" ? details[key] : null);
  return {
    delivery,
    recipient,
    period: periodName({ from, until }),
    from: isoText(from),
    until: isoText(until),
    due: isoText(due),
    state: standing.state,
    at: "at" in standing ? isoText(standing.at) : null,
    reason: "reason" in standing ? standing.reason : null,
    tries,
    nextTry: "nextTry" in standing ? isoText(standing.nextTry) : null,
    file: text("file"),
    bytes: typeof details["bytes"] === "number" ? details["bytes"] : null,
    sha256: text("sha256"),
    cost: text("cost"),
    currency: text("currency"),
    gpuHours: text("gpuHours"),
    isConfigured,
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
