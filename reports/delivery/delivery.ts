import { createHash } from "node:crypto";
import { groupedBy } from "../../domain/grouped.ts";
import type { ConfiguredDelivery, ConfiguredRecipient } from "../../runtime/config/deliveries.ts";
import type { Ledger } from "../../runtime/config/ledger.ts";
import type { ReportQuestion } from "../question/question.ts";
import type { Span } from "../question/span.ts";
import { duePeriods, type DuePeriod, type DuePeriods } from "./schedule.ts";
import { scheduleKey, type DeliveryRecord, type KnownSchedules, type Occasion } from "./records.ts";

/** A delivery to one of its recipients. */
export interface Delivery {
  readonly configured: ConfiguredDelivery;
  readonly recipient: ConfiguredRecipient;
  /** The hash of everything that decides when the delivery is due. With a new hash, nothing of the time before is owed. */
  readonly definition: string;
  readonly periods: DuePeriods;
}

/** Returns each delivery of a configuration with each of its recipients. */
export function deliveriesOf(configured: readonly ConfiguredDelivery[]): readonly Delivery[] {
  return configured.flatMap((delivery) => {
    const { schedule, timeZone, period } = delivery;
    const definition = createHash("sha256")
      .update(JSON.stringify([schedule, timeZone, period]))
      .digest("hex");
    const periods = duePeriods({ schedule, timeZone, period });
    return delivery.to.map((recipient) => ({ configured: delivery, recipient, definition, periods }));
  });
}

/** Returns what a delivery owes now, oldest first: everything that became due since the first server had its schedule. */
export function owedOf(delivery: Delivery, schedules: KnownSchedules, now: number): readonly Occasion[] {
  const { configured, recipient, definition, periods } = delivery;
  const since = schedules.get(scheduleKey(configured.name, recipient.name, definition));
  return since === undefined ? [] : periods.owed(since, now).map((due) => occasionOf(delivery, due));
}

/** Returns a period of a delivery to a recipient. */
export function occasionOf({ configured, recipient }: Delivery, { span, due }: DuePeriod): Occasion {
  return { delivery: configured.name, recipient: recipient.name, from: span.from, until: span.until, due };
}

/** Returns the key of an occasion. */
export function occasionKey({ delivery, recipient, from, until }: Omit<Occasion, "due">): string {
  return [delivery, recipient, from, until].join(" ");
}

/** Groups records by the {@link occasionKey} of their occasion, in their order. */
export function byOccasion(records: readonly DeliveryRecord[]): ReadonlyMap<string, readonly DeliveryRecord[]> {
  return groupedBy(records, occasionKey);
}

/** Returns the question of a delivery for a period. */
export function questionOf({ report }: ConfiguredDelivery, span: Span, { policies }: Ledger): ReportQuestion {
  const { kind, by, where, policy = policies[0].name } = report;
  const filters = Object.entries(where).map(([dimension, values]) => ({ dimension, values }));
  return { policy, kind, span, by, where: filters };
}
