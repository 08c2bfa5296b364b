import type { UsageHour } from "../domain/allocation/usage-hour.ts";
import type { Charge } from "../domain/charge/charge.ts";
import type { OwnerRules } from "../domain/owner/compile.ts";
import type { Policy } from "../domain/policy/policy.ts";
import type { PriceBook } from "../domain/price/book.ts";
import { HOUR_MILLIS } from "../domain/time.ts";
import { chargeNode } from "../processors/ledger/charge/charge-node.ts";
import { createNodePrices } from "../processors/ledger/charge/node-prices.ts";
import { knownDates } from "../processors/ledger/plan/known-dates.ts";
import { askFor, usageHourOf } from "../processors/ledger/plan/measure.ts";
import type { Measurement } from "../processors/ledger/plan/measurement.ts";
import type { NodeRecord } from "../processors/ledger/plan/node-record.ts";
import { planNode } from "../processors/ledger/plan/plan.ts";
import type { Sample } from "./samples.ts";
import { createSums } from "./sums.ts";

/** One hour of a cluster in the state of a snapshot. */
export interface ChargedHour {
  readonly usage: readonly UsageHour[];
  readonly charges: readonly Charge[];
}

/** The rules by which an hour is charged. */
export interface HourRules {
  readonly book: PriceBook;
  readonly owners: OwnerRules;
  readonly policy: Policy;
}

/**
 * Returns the usage and the charges of the first whole hour after a snapshot, as if its state lasted. They are planned, shared and priced by
 * the ledger's own code. Costs that a policy spreads have the payer `spread`.
 */
export function chargeHour(
  records: readonly NodeRecord[],
  samples: readonly Sample[],
  { book, owners, policy, atMillis }: HourRules & { readonly atMillis: number },
): ChargedHour {
  const from = Math.ceil(atMillis / HOUR_MILLIS) * HOUR_MILLIS;
  const window = { from, until: from + HOUR_MILLIS };
  const dates = knownDates(book, owners.changes);
  const sumsOf = createSums(samples);
  const rules = { prices: createNodePrices(book), owners, policies: [policy] };
  const usage: UsageHour[] = [];
  const charges: Charge[] = [];
  for (const record of records) {
    const measurements: Measurement[] = [];
    const segments = planNode(record, window, 0, dates).map((planned) => askFor(record, planned, measurements));
    const sums = measurements.map(sumsOf);
    const rows = segments.map((segment) => usageHourOf(segment, sums));
    if (rows.length === 0) continue;
    for (const row of rows) usage.push(row);
    const [ofNode] = chargeNode(rows, rules).charges;
    for (const charge of ofNode!) charges.push(charge);
  }
  return { usage, charges };
}
