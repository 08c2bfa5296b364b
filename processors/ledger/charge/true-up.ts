import { chargeBeside, effectively, type Charge } from "../../../domain/charge/charge.ts";
import type { Money } from "../../../domain/exact/units.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { ScopeWeights } from "../../../domain/policy/spread.ts";
import { spreadChargeOver } from "./spread-charges.ts";

/** The invoiced amount for machines of a kind over a period, minus the computed amount. */
export interface TrueUp {
  /** The cluster, if the account has exactly one; otherwise empty. */
  readonly cluster: string;
  readonly instanceType: string;
  readonly capacityType: string;
  /** Negative if less was invoiced than computed. */
  readonly difference: Money;
  /** The key of the line in the invoice. */
  readonly key: string;
}

/**
 * Returns the lines that book a true-up under a policy, over the whole billing period: effective cost, without GPU-hours (docs/closing.md).
 * If the policy spreads anything, the holders of such machines pay by the policy's rule. Otherwise, or if there are none, the platform
 * pays.
 */
export function trueUpCharges(
  { cluster, instanceType, capacityType, difference, key }: TrueUp,
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
    { price: key },
  );
  return isSpread ? spreadChargeOver(charge, weights) : [charge];
}
