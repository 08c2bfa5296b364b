import { chargeOnDemand, type BillRules, type OnDemandCharges } from "../processors/ledger/charging/on-demand.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import type { Bill } from "../scenarios/bill.ts";
import { createBillSums } from "../scenarios/lines.ts";
import { CommandError } from "./context.ts";

/** The shortest interval between two progress messages. */
const TOLD_EVERY_MILLIS = 1_000;

/**
 * Returns the bills of a span in the order of their rules, from the metered usage, which is read once. Only the groups of the bills are in
 * memory. Fails with a `StoreError`, and with a {@link CommandError} if a charge is not exact.
 */
export async function computeBills(
  store: StoreClient,
  bills: readonly BillRules[],
  of: {
    readonly span: { readonly from: number; readonly until: number };
    readonly by: readonly string[];
    readonly onProgress: (progress: OnDemandCharges) => void;
  },
): Promise<readonly Bill[]> {
  const { span, by, onProgress } = of;
  // A group with a priced part would hide its unpriced part.
  const sums = bills.map(() => createBillSums([...new Set([...by, "unpriced"])]));
  for await (const progress of chargeOnDemand(store, bills, span)) {
    exactCharges(progress).forEach((charges, index) => {
      for (const charge of charges) sums[index]!.add(charge);
    });
    onProgress(progress);
  }
  return sums.map((each) => each.bill());
}

/** Returns the charges of each bill. Fails with a {@link CommandError} if one is not exact. */
export function exactCharges({
  charges,
  breaches: [breach],
}: Pick<OnDemandCharges, "charges" | "breaches">): OnDemandCharges["charges"] {
  if (breach === undefined) return charges;
  const { node, slot, what, found, expected } = breach;
  throw new CommandError(`charges of ${node}/${slot} are not exact: ${what} is ${found}, expected ${expected}`);
}

/** Creates a function that writes the progress of bills from time to time. */
export function createProgress(write: (text: string) => void): (progress: OnDemandCharges) => void {
  let toldAt = performance.now();
  return ({ done, of }) => {
    if (performance.now() - toldAt < TOLD_EVERY_MILLIS) return;
    toldAt = performance.now();
    write(`${done} of ${of} hours\n`);
  };
}
