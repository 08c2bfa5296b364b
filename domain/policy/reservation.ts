import { add, compare, divide, multiply, rational, subtract, ZERO, type Rational } from "../exact/rational.ts";
import type { Payer } from "./policy.ts";
import { inOrder, type ScopeWeights, type Weighed } from "./spread.ts";

/** The GPU time that quotas reserve for a namespace in an hour of a cluster. */
export interface Reservation {
  readonly namespace: string;
  /** In milliseconds of GPU time, by the owner of the namespace. */
  readonly pieces: readonly { readonly team: string; readonly costCenter: string; readonly millis: number }[];
}

/** The fields of a line that a spread by quota reads. */
export interface QuotaLine {
  readonly payer: Payer;
  /** The holder of the share, even if someone else pays. Undefined if the share has no holder, and for lines that were spread. */
  readonly holder?: { readonly namespace: string } | undefined;
  readonly shareMillis: Rational;
}

/**
 * Returns the weights of a spread by quota, from all lines of an hour of a cluster. The weight of a team and cost center is the GPU time
 * that is reserved for its namespaces and not held in them. The weight of `rest` is the free time beyond that. So no team gets more than
 * its own unused part. If less is free than is reserved, the free time is divided in proportion. There are no weights if all quotas are in
 * use.
 */
export function quotaWeights(
  lines: readonly QuotaLine[],
  reservations: readonly Reservation[],
  rest: Pick<Weighed, "team" | "costCenter">,
): ScopeWeights {
  const held = new Map<string, Rational>();
  let free = ZERO;
  for (const { payer, holder, shareMillis } of lines) {
    if (payer === "spread") free = add(free, shareMillis);
    else if (holder !== undefined) held.set(holder.namespace, add(held.get(holder.namespace) ?? ZERO, shareMillis));
  }
  const unused = reservations.flatMap(({ namespace, pieces }) => unusedOf(pieces, held.get(namespace) ?? ZERO));
  if (unused.length === 0) return { weighed: [], isRefused: false };
  const left = subtract(
    free,
    unused.reduce((total, { weight }) => add(total, weight), ZERO),
  );
  const weighed = compare(left, ZERO) > 0 ? [...merged(unused), { ...rest, weight: left }] : merged(unused);
  return { weighed: inOrder(weighed), isRefused: false };
}

/** The weight of a team and cost center as a fraction. */
type Unused = Weighed & { readonly weight: Rational };

/** Returns the part of a namespace's reservation that is not held, in proportion to its owners. */
function unusedOf(pieces: Reservation["pieces"], held: Rational): readonly Unused[] {
  const reserved = rational(pieces.reduce((total, { millis }) => total + millis, 0));
  const unused = subtract(reserved, held);
  if (compare(unused, ZERO) <= 0) return [];
  const part = divide(unused, reserved);
  return pieces.map(({ millis, ...owner }) => ({ ...owner, weight: multiply(part, rational(millis)) }));
}

function merged(unused: readonly Unused[]): readonly Unused[] {
  const byOwner = new Map<string, Unused>();
  for (const one of unused) {
    const key = JSON.stringify([one.team, one.costCenter]);
    byOwner.set(key, { ...one, weight: add(byOwner.get(key)?.weight ?? ZERO, one.weight) });
  }
  return [...byOwner.values()];
}
