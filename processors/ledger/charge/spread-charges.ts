import { NO_OWNERS, type Charge } from "../../../domain/charge/charge.ts";
import { PLATFORM } from "../../../domain/owner/owner.ts";
import { ZERO } from "../../../domain/exact/rational.ts";
import type { SpreadRule } from "../../../domain/policy/policy.ts";
import { quotaWeights, type Reservation } from "../../../domain/policy/reservation.ts";
import {
  holderWeightOf,
  spreadByWeights,
  spreadLines,
  type ScopeWeights,
  type Spread,
  type Weights,
} from "../../../domain/policy/spread.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../../domain/time.ts";

/** The lengths of the spread windows, in milliseconds. `period` is the whole span under consideration. */
export const WINDOW_MILLIS = { hour: HOUR_MILLIS, day: DAY_MILLIS, period: Infinity } as const;

/** Charges after the spread, and the refused scopes. */
export interface SpreadCharges {
  readonly charges: readonly Charge[];
  /** Scopes whose holders have no price. They cannot be weighted by cost. */
  readonly refused: readonly string[];
}

/**
 * Spreads the charges that a policy gives to the holders together, over whole windows of the rule. A spread line keeps cluster, node, GPU
 * and state, and has only the payer's team and cost center. If a scope has no weights, the owner of the pool pays, otherwise the platform
 * (docs/policies.md).
 */
export function spreadCharges(charges: readonly Charge[], rule: SpreadRule): SpreadCharges {
  if (charges.every(({ payer }) => payer !== "spread")) return { charges, refused: [] };
  return applied(charges, spreadLines(scoped(charges, rule), holderWeightOf(rule)));
}

/** Spreads charges by known weights. The keys of their scopes come from {@link scopeKey}. */
export function spreadChargesBy(charges: readonly Charge[], rule: SpreadRule, weights: Weights): SpreadCharges {
  if (charges.every(({ payer }) => payer !== "spread")) return { charges, refused: [] };
  return applied(charges, spreadByWeights(scoped(charges, rule), weights));
}

/** Returns the weights of a spread by quota, from all charges of an hour of a cluster before anything is spread. */
export function weightsByQuota(
  charges: readonly Charge[],
  rule: SpreadRule,
  reservations: readonly Reservation[],
): Weights {
  const first = charges.find(({ payer }) => payer === "spread");
  if (first === undefined) return new Map();
  return new Map([[scopeOf(first, rule), quotaWeights(charges, reservations, { team: PLATFORM, costCenter: "" })]]);
}

/** Divides one charge by the weights of its own scope. */
export function spreadChargeOver(charge: Charge, weights: ScopeWeights): readonly Charge[] {
  return applied([charge], spreadByWeights([{ ...charge, scope: "" }], new Map([["", weights]]))).charges;
}

/** The payer fields of a charge that the platform pays. */
const OF_PLATFORM = { payer: "platform", team: PLATFORM, costCenter: "", project: "", environment: "" } as const;

type ScopedCharge = Charge & { readonly scope: string };

function scoped(charges: readonly Charge[], rule: SpreadRule): readonly ScopedCharge[] {
  // Only direct cost counts as weight. Charges that were spread already, and markups, have no holder.
  return charges.map((charge) => ({
    ...charge,
    scope: charge.payer === "holder" && charge.holder === undefined ? "" : scopeOf(charge, rule),
  }));
}

function applied(charges: readonly Charge[], { parts, unspread, refused }: Spread<ScopedCharge>): SpreadCharges {
  const moved = parts.map(({ line, ...part }): Charge => {
    const { scope: _, ...charge } = line;
    // The free part beyond the reserved quotas stays with the pool's owner or the platform.
    if (part.team === PLATFORM) {
      const { team, costCenter } = charge;
      return {
        ...charge,
        ...part,
        team,
        costCenter,
        payer: team === PLATFORM ? "platform" : "owner",
        shareMillis: ZERO,
      };
    }
    return {
      ...charge,
      ...part,
      because: "",
      payer: "holder",
      project: "",
      environment: "",
      holder: undefined,
      // Another holder had this share, or it was free. It must not count as weight in any scope.
      shareMillis: ZERO,
      trail: { ...charge.trail, owners: NO_OWNERS },
    };
  });
  const stays = unspread.map(({ line, because }): Charge => {
    const { scope: _, ...charge } = line;
    if (because === "nobody") return { ...charge, payer: charge.team === PLATFORM ? "platform" : "owner", because };
    return { ...charge, ...OF_PLATFORM, trail: { ...charge.trail, owners: NO_OWNERS } };
  });
  return { charges: [...charges.filter(({ payer }) => payer !== "spread"), ...moved, ...stays], refused };
}

/** Returns the scope of a charge: its node, pool, model or cluster, in an hour, a day or the period. */
export function scopeOf(charge: Charge, { over, window }: SpreadRule): string {
  const { cluster, node, pool, gpuModel, fromMillis } = charge;
  const of = { node, pool, model: gpuModel, cluster: "" }[over];
  return scopeKey(cluster, of, Math.floor(fromMillis / WINDOW_MILLIS[window]));
}

/** Returns the key of a scope in one window. Windows are numbered from 1970. */
export function scopeKey(cluster: string, of: string, window: number): string {
  return JSON.stringify([cluster, of, window]);
}
