import { chargeBeside, effectively, type Charge } from "../../../domain/charge/charge.ts";
import type { Money } from "../../../domain/exact/units.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { ScopeWeights } from "../../../domain/policy/spread.ts";
import { spreadChargeOver } from "./spread-charges.ts";

/** What was invoiced for machines of a kind over a period, beyond what was computed for them. */
export interface TrueUp {
  /** Of an account with one cluster that one; empty otherwise. */
  readonly cluster: string;
  readonly instanceType: string;
  readonly capacityType: string;
  /** Negative where less was invoiced than computed. */
  readonly difference: Money;
  /** Where the invoice says it. */
  readonly place: string;
}

/**
 * The lines that book a true-up under a policy, over the whole of a billing period: on effective cost, without GPU-hours (ledger,
 * "Closing"). Where the policy spreads anything, they go to those who hold such machines, by the policy's rule; else, and where
 * nobody does, they are the platform's.
 */
export function trueUpCharges(
  { cluster, instanceType, capacityType, difference, place }: TrueUp,
  period: { readonly from: number; readonly until: number },
  { payers }: Pick<Policy, "payers">,
  weights: ScopeWeights,
): readonly Charge[] {
  if (difference === 0n) return [];
  const isSpread = Object.values(payers).includes("spread");
  const charge = chargeBeside(
    {
      fromMillis: period.from,
      untilMillis: period.until,
      cluster,
      instanceType,
      capacityType,
      state: "true-up",
      payer: isSpread ? "spread" : "platform",
      costs: effectively(difference),
    },
    { price: place },
  );
  return isSpread ? spreadChargeOver(charge, weights) : [charge];
}
