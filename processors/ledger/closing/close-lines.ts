import type { Charge } from "../../../domain/charge/charge.ts";
import type { BillingPeriod } from "../../../domain/period.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { Markup } from "../../../domain/price/book.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { chargeOf, SELECTED_CHARGES, type ChargeRow } from "../closed/charge-rows.ts";
import { markupCharges } from "../charge/markup.ts";
import { spreadChargesBy } from "../charge/spread-charges.ts";
import { trueUpCharges } from "../charge/true-up.ts";
import type { FrozenWeights } from "../closed/frozen.ts";
import type { InvoicedKind } from "./invoiced.ts";
import { weightsOfKind } from "./invoiced.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../../domain/time.ts";

const WAITING = `
SELECT ${SELECTED_CHARGES} FROM charges
WHERE policy = {policy:String} AND payer = 'spread'
  AND from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})
  AND run_id IN (SELECT run_id FROM closed_runs WHERE close_id = toUUID({close:String}) AND kind = 'charge')
ORDER BY toStartOfHour(from_at), cluster, node, slot, from_at`;

/** The input for the lines of a close. */
export interface CloseInput {
  readonly period: BillingPeriod;
  readonly closeId: string;
  readonly markup: readonly Markup[];
  readonly invoiced: readonly InvoicedKind[];
  readonly weights: FrozenWeights;
}

/**
 * Yields the lines that a close adds to a policy's charges, in portions: the lines that waited to be spread over days or the period, with
 * their markup, line by line as reports showed them until the close; and true-ups. At most one hour of a cluster is in memory. Fails with a
 * `StoreError`.
 */
export async function* closeLines(
  store: StoreClient,
  policy: Policy,
  { period, closeId, markup, invoiced, weights }: CloseInput,
): AsyncGenerator<readonly Charge[]> {
  for (let from = period.from; from < period.until; from += DAY_MILLIS) {
    const rows = store.stream<ChargeRow>(WAITING, {
      policy: policy.name,
      close: closeId,
      from,
      until: from + DAY_MILLIS,
    });
    for await (const waiting of hoursOf(rows)) {
      const frozen = await weights.of({ closeId }, policy, waiting[0]!.fromMillis);
      const { charges } = spreadChargesBy(waiting, policy.spread, frozen);
      yield [...charges, ...markupCharges(charges, markup)];
    }
  }
  for (const kind of invoiced)
    yield trueUpCharges(kind, period, policy, await weightsOfKind(store, closeId, policy, kind));
}

/** Yields the charges of one hour of one cluster after the other. */
async function* hoursOf(portions: AsyncIterable<readonly ChargeRow[]>): AsyncGenerator<readonly Charge[]> {
  let charges: Charge[] = [];
  for await (const portion of portions) {
    for (const row of portion) {
      const charge = chargeOf(row);
      if (charges.length > 0 && !isOfHour(charges[0]!, charge)) {
        yield charges;
        charges = [];
      }
      charges.push(charge);
    }
  }
  if (charges.length > 0) yield charges;
}

function isOfHour(one: Charge, other: Charge): boolean {
  return (
    one.cluster === other.cluster &&
    Math.floor(one.fromMillis / HOUR_MILLIS) === Math.floor(other.fromMillis / HOUR_MILLIS)
  );
}
