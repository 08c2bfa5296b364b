import type { Charge } from "../../../domain/charge/charge.ts";
import type { SpreadRule } from "../../../domain/policy/policy.ts";
import { amountsOf, NOTHING, plus, withAmounts, type Amounts } from "./amounts.ts";
import { scopeOf, spreadCharges, type SpreadCharges } from "./spread-charges.ts";

/** What a policy spreads over days or a period, of charges that come hour by hour. */
export interface LateSpread {
  add(charges: readonly Charge[]): void;
  /** What became of all that was to be spread; what holders and the platform pay themselves is not among it. */
  end(): SpreadCharges;
}

/**
 * Gathers what is to be spread over more than an hour, and who it is to be spread over, added up as they come: as much is held as
 * there are GPUs, states and teams in each window, however long it is. The parts sum to what was added.
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

/** What is to be spread, and what holders pay directly, which alone weighs. */
function isOfSpread({ payer, holder }: Pick<Charge, "payer" | "holder">): boolean {
  return payer === "spread" || (payer === "holder" && holder !== undefined);
}

function keyOf(charge: Charge, rule: SpreadRule): string {
  const { payer, team, costCenter, project, environment, node, slot, state, because, costs } = charge;
  const place = payer === "spread" ? [node, slot ?? null, state, because, project, environment] : [];
  return JSON.stringify([payer, scopeOf(charge, rule), costs === undefined, team, costCenter, ...place]);
}
