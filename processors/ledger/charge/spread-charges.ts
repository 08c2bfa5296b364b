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

/** How long the windows are over which something is spread; a period is all of the span that is looked at. */
export const WINDOW_MILLIS = { hour: 3_600_000, day: 86_400_000, period: Infinity } as const;

/** Charges of which nothing is to be spread any more, and the scopes that refused. */
export interface SpreadCharges {
  readonly charges: readonly Charge[];
  /** Scopes whose holders have no price: they cannot be weighed by cost. */
  readonly refused: readonly string[];
}

/**
 * Spreads what a policy says that holders share, over the charges of whole windows of the rule. A spread line keeps cluster, node,
 * GPU and state, and names the payer's team and cost centre only. Where nobody weighs, the owner of the pool pays for the line,
 * else the platform (ledger, "Policies").
 */
export function spreadCharges(charges: readonly Charge[], rule: SpreadRule): SpreadCharges {
  if (charges.every(({ payer }) => payer !== "spread")) return { charges, refused: [] };
  return applied(charges, spreadLines(scoped(charges, rule), holderWeightOf(rule)));
}

/** The same by weights that are known, of whose scopes the keys are {@link scopeKey}'s. */
export function spreadChargesBy(charges: readonly Charge[], rule: SpreadRule, weights: Weights): SpreadCharges {
  if (charges.every(({ payer }) => payer !== "spread")) return { charges, refused: [] };
  return applied(charges, spreadByWeights(scoped(charges, rule), weights));
}

/** The weights of a spread by quota, of all charges of an hour of a cluster before anything is spread. */
export function weightsByQuota(
  charges: readonly Charge[],
  rule: SpreadRule,
  reservations: readonly Reservation[],
): Weights {
  const first = charges.find(({ payer }) => payer === "spread");
  if (first === undefined) return new Map();
  return new Map([[scopeOf(first, rule), quotaWeights(charges, reservations, { team: PLATFORM, costCenter: "" })]]);
}

/** Divides one charge that is to be spread by the weights of a scope of its own. */
export function spreadChargeOver(charge: Charge, weights: ScopeWeights): readonly Charge[] {
  return applied([charge], spreadByWeights([{ ...charge, scope: "" }], new Map([["", weights]]))).charges;
}

/** Whose a charge of the platform is. */
const OF_PLATFORM = { payer: "platform", team: PLATFORM, costCenter: "", project: "", environment: "" } as const;

type ScopedCharge = Charge & { readonly scope: string };

function scoped(charges: readonly Charge[], rule: SpreadRule): readonly ScopedCharge[] {
  // Direct cost alone weighs: what was spread already, and a markup, are of no holder.
  return charges.map((charge) => ({
    ...charge,
    scope: charge.payer === "holder" && charge.holder === undefined ? "" : scopeOf(charge, rule),
  }));
}

function applied(charges: readonly Charge[], { parts, unspread, refused }: Spread<ScopedCharge>): SpreadCharges {
  const moved = parts.map(({ line, ...part }): Charge => {
    const { scope: _, ...charge } = line;
    // Beyond what quotas reserve, what is free stays with the pool's owner or the platform.
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
      // It was held, or free, by somebody else: in no scope does it weigh again.
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

/** Where a charge is spread: its node, pool, model or cluster, in an hour, a day or the period. */
export function scopeOf(charge: Charge, { over, window }: SpreadRule): string {
  const { cluster, node, pool, gpuModel, fromMillis } = charge;
  const place = { node, pool, model: gpuModel, cluster: "" }[over];
  return scopeKey(cluster, place, Math.floor(fromMillis / WINDOW_MILLIS[window]));
}

/** A scope in one window, counted from 1970. */
export function scopeKey(cluster: string, place: string, window: number): string {
  return JSON.stringify([cluster, place, window]);
}
