import { isDeepStrictEqual } from "node:util";
import { ADDED_DIMENSIONS } from "../../domain/charge/dimension.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { difference, lastUnits, sum } from "../../domain/exact/units.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { chargeNodesOnDemand, type BillRules } from "../../processors/ledger/charging/on-demand.ts";
import type { LedgerRules } from "../../processors/ledger/charging/rules.ts";
import { readClosed } from "../../processors/ledger/closed/closed.ts";
import { staleCharges } from "../../processors/ledger/hours/stale-hours.ts";
import type { NodesOfCluster } from "../../processors/ledger/what-if/touched-nodes.ts";
import { readGroups, TooManyGroupsError } from "../../reports/report/groups.ts";
import type { Span } from "../../reports/question/span.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Bill, BillLine } from "../../scenarios/bill.ts";
import { groupKey } from "../../scenarios/dimensions.ts";
import { createBillSums } from "../../scenarios/lines.ts";
import { exactCharges } from "../on-demand-bill.ts";

/** Dimensions in which lines of closed periods can differ from the same usage charged again: a correction is booked later, and older lines lack some. */
const OF_BOOKING: ReadonlySet<string> = new Set(["billingPeriod", ...ADDED_DIMENSIONS]);

/**
 * Returns whether the stored charges of a span are its bill by these rules, this policy and these dimensions, and those of a node depend on no
 * other node: the policy spreads nothing, no hour waits to be charged, and no closed period has frozen another policy or other list prices. Fails
 * with a `StoreError`.
 */
export async function isBillStored(
  store: StoreClient,
  of: { readonly span: Span; readonly by: readonly string[]; readonly rules: LedgerRules; readonly policy: Policy },
): Promise<boolean> {
  const { span, by, rules, policy } = of;
  const { from, until } = span;
  if (from % HOUR_MILLIS !== 0 || until % HOUR_MILLIS !== 0) return false;
  if (Object.values(policy.payers).includes("spread")) return false;
  const { periods, openSince } = await readClosed(store);
  // Hours of closed periods are never charged again by newer list prices.
  if (from < openSince && (rules.isListPriced || by.some((name) => OF_BOOKING.has(name)))) return false;
  const frozen = periods.filter(({ period }) => period.from < until && period.until > from);
  const isSame = frozen.every(({ policies }) => policies.some((each) => isDeepStrictEqual(each, policy)));
  return isSame && (await staleCharges(store, rules, { from, until, openSince })).length === 0;
}

/**
 * Returns the stored bill of a span, and the bill that it would have been: the stored one with the difference on the touched nodes, which alone
 * are charged again. Returns undefined if the stored bill has more groups than one reading may have. Fails with a `StoreError`, and with a
 * {@link CommandError} if a charge is not exact.
 */
export async function storedBills(
  store: StoreClient,
  bills: readonly [was: BillRules, otherwise: BillRules],
  of: { readonly span: Span; readonly by: readonly string[]; readonly touched: readonly NodesOfCluster[] },
): Promise<readonly [Bill, Bill] | undefined> {
  const { span } = of;
  const by = [...new Set([...of.by, "unpriced"])];
  const question = { policy: bills[0].policy.name, kind: "showback", span, where: [] } as const;
  const groups = await readGroups(store, question, [by]).catch((error: unknown) => {
    if (error instanceof TooManyGroupsError) return undefined;
    throw error;
  });
  if (groups === undefined) return undefined;
  const lines = groups[0]!.map(({ values, isPriced, effective, gpuHours }) => ({
    dimensions: Object.fromEntries(by.map((name, index) => [name, values[index]!])),
    gpuHours: lastUnits<"gpu-hour">(gpuHours),
    cost: isPriced ? lastUnits<"currency">(effective) : undefined,
  }));
  const [before, after] = [createBillSums(by), createBillSums(by)];
  for (const { cluster, nodes } of of.touched)
    for await (const progress of chargeNodesOnDemand(store, bills, { cluster, nodes, ...span })) {
      const [was, otherwise] = exactCharges(progress);
      for (const charge of was!) before.add(charge);
      for (const charge of otherwise!) after.add(charge);
    }
  const less = before.bill().lines.map(({ cost, gpuHours, ...line }) => ({
    ...line,
    gpuHours: difference(sum<"gpu-hour">([]), gpuHours),
    cost: cost === undefined ? undefined : difference(sum<"currency">([]), cost),
  }));
  return [billOf(lines), billOf([...lines, ...less, ...after.bill().lines])];
}

/** Returns the bill of lines, which are added up by their dimensions. Lines that come to nothing are left out. */
function billOf(lines: readonly BillLine[]): Bill {
  const groups = new Map<string, BillLine>();
  for (const { dimensions, gpuHours, cost } of lines) {
    const key = groupKey(Object.values(dimensions));
    const known = groups.get(key) ?? { gpuHours: sum([]), cost: undefined };
    groups.set(key, {
      dimensions,
      gpuHours: sum([known.gpuHours, gpuHours]),
      cost: cost === undefined ? known.cost : sum([known.cost ?? sum([]), cost]),
    });
  }
  const own = [...groups.values()].filter(({ gpuHours, cost }) => gpuHours !== 0n || (cost ?? 0n) !== 0n);
  return { lines: own, total: sum(own.flatMap(({ cost }) => cost ?? [])) };
}
