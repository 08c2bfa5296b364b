import { NO_OWNERS, type Charge } from "../../../domain/charge/charge.ts";
import { ZERO } from "../../../domain/exact/rational.ts";
import type { SpreadRule } from "../../../domain/policy/policy.ts";
import { spreadLines } from "../../../domain/policy/spread.ts";

const WINDOW_MILLIS = { hour: 3_600_000, day: 86_400_000, period: Infinity } as const;

/** Charges of which nothing is to be spread any more, and the scopes that refused. */
export interface SpreadCharges {
  readonly charges: readonly Charge[];
  /** Scopes whose holders have no price: they cannot be weighed by cost. */
  readonly refused: readonly string[];
}

/**
 * Spreads what a policy says that holders share, over the charges of whole windows of the rule. A spread line keeps cluster, node,
 * GPU and state, and names the payer's team and cost centre only; where nobody weighs, it stays the platform's (ledger,
 * "Policies").
 */
export function spreadCharges(charges: readonly Charge[], rule: SpreadRule): SpreadCharges {
  if (charges.every(({ payer }) => payer !== "spread")) return { charges, refused: [] };
  const { parts, unspread, refused } = spreadLines(
    charges.map((charge) => ({ ...charge, scope: scopeOf(charge, rule) })),
    rule.by,
  );
  const moved = parts.map(({ line, team, costCenter, gpuHours, costs }): Charge => {
    const { scope: _, ...charge } = line;
    return {
      ...charge,
      because: "",
      payer: "holder",
      team,
      costCenter,
      project: "",
      environment: "",
      holder: undefined,
      // It was held, or free, by somebody else: in no scope does it weigh again.
      shareMillis: ZERO,
      gpuHours,
      costs,
      trail: { ...charge.trail, owners: NO_OWNERS },
    };
  });
  const stays = unspread.map(({ line, because }): Charge => {
    const { scope: _, ...charge } = line;
    return { ...charge, payer: "platform", because: because === "nobody" ? because : charge.because };
  });
  return { charges: [...charges.filter(({ payer }) => payer !== "spread"), ...moved, ...stays], refused };
}

/** Where a charge is spread: its node, pool, model or cluster, in an hour, a day or the period. */
function scopeOf(charge: Charge, { over, window }: SpreadRule): string {
  const { cluster, node, pool, gpuModel, fromMillis } = charge;
  const place = { node, pool, model: gpuModel, cluster: "" }[over];
  return JSON.stringify([cluster, place, Math.floor(fromMillis / WINDOW_MILLIS[window])]);
}
