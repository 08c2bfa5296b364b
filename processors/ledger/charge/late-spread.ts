import type { Charge } from "../../../domain/charge/charge.ts";
import type { SpreadRule } from "../../../domain/policy/policy.ts";
import { amountsOf, NOTHING, plus, withAmounts, type Amounts } from "./amounts.ts";
import { scopeOf, spreadCharges, type SpreadCharges } from "./spread-charges.ts";

/** The charges that a policy spreads over days or a period. They are added hour by hour. */
export interface LateSpread {
  add(charges: readonly Charge[]): void;
  /** Returns the spread lines. Lines that holders and the platform pay themselves are not included. */
  end(): SpreadCharges;
}

/**
 * Collects the charges to spread over more than an hour, and the holders to spread them over. It adds them up as they come, so memory
 * depends on the GPUs, states and teams in each window, not on its length. The parts sum to the added charges.
 */
export function createLateSpread(rule: SpreadRule): LateSpread {
  const lines = new Map<string, { readonly like: Charge; amounts: Amounts }>();
  return {
    add(charges) {
      for (const charge of charges) {
        if (!isOfSpread(charge)) continue;
        const key = keyOf(charge, rule);
        const line = lines.get(key) ?? { like: charge, amounts: NOTHING };
        line.amounts = plus(line.amounts, amountsOf(charge), 1n);
        lines.set(key, line);
      }
    },
    end() {
      const { charges, refused } = spreadCharges(
        [...lines.values()].map(({ like, amounts }) => withAmounts(like, amounts)),
        rule,
      );
      return { charges: charges.filter(({ payer, holder }) => !isOfSpread({ payer, holder })), refused };
    },
  };
}

/** Returns whether a charge is to be spread or is paid directly by a holder. Only the latter counts as weight. */
function isOfSpread({ payer, holder }: Pick<Charge, "payer" | "holder">): boolean {
  return payer === "spread" || (payer === "holder" && holder !== undefined);
}

function keyOf(charge: Charge, rule: SpreadRule): string {
  const { payer, team, costCenter, project, environment, node, slot, state, because, costs } = charge;
  const key = payer === "spread" ? [node, slot ?? null, state, because, project, environment] : [];
  return JSON.stringify([payer, scopeOf(charge, rule), costs === undefined, team, costCenter, ...key]);
}
