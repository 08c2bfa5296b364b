import { sum } from "../domain/exact/units.ts";
import { periodOf } from "../domain/period.ts";
import type { Policy } from "../domain/policy/policy.ts";
import type { ChangeUsage } from "../processors/ledger/charging/charged-nodes.ts";
import { chargeOnDemand, type OnDemandCharges } from "../processors/ledger/charging/on-demand.ts";
import type { Ledger } from "../runtime/config/ledger.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { groupLines, type Bill, type BillLine } from "../scenarios/bill.ts";
import { billOf } from "../scenarios/lines.ts";
import { CommandError } from "./context.ts";

/** The shortest interval between two progress messages. */
const TOLD_EVERY_MILLIS = 1_000;

/**
 * Returns the bill of a span under a policy, from the metered usage. Only the groups of the bill are in memory. Fails with a `StoreError`, and
 * with a {@link CommandError} if a charge is not exact.
 */
export async function computeBill(
  store: StoreClient,
  ledger: Pick<Ledger, "book" | "owners" | "energy">,
  of: {
    readonly policy: Policy;
    readonly span: { readonly from: number; readonly until: number };
    readonly by: readonly string[];
    /** Changes the usage before it is charged; by default it is charged as it was. */
    readonly change?: ChangeUsage | undefined;
    readonly onProgress: (progress: OnDemandCharges) => void;
  },
): Promise<Bill> {
  const { policy, span, by, change, onProgress } = of;
  // A group with a priced part would hide its unpriced part.
  const kept = by.includes("unpriced") ? by : [...by, "unpriced"];
  let lines: readonly BillLine[] = [];
  for await (const progress of chargeOnDemand(store, ledger, policy, span, change)) {
    const [breach] = progress.breaches;
    if (breach !== undefined)
      throw new CommandError(
        `charges of ${breach.node}/${breach.slot} are not exact: ${breach.what} is ${breach.found}, expected ${breach.expected}`,
      );
    const booked = progress.charges.map((charge) => ({
      ...charge,
      billingPeriod: periodOf(charge.fromMillis).from,
      corrects: "",
    }));
    lines = groupLines([...lines, ...billOf(booked).lines], kept);
    onProgress(progress);
  }
  return { lines, total: sum(lines.flatMap(({ cost }) => cost ?? [])) };
}

/** Creates a function that writes the progress of a bill from time to time. */
export function createProgress(name: string, write: (text: string) => void): (progress: OnDemandCharges) => void {
  let toldAt = performance.now();
  return ({ done, of }) => {
    if (performance.now() - toldAt < TOLD_EVERY_MILLIS) return;
    toldAt = performance.now();
    write(`${name}: ${done} of ${of} hours\n`);
  };
}
