import { add, compare, divide, multiply, rational, subtract, ZERO, type Rational } from "../exact/rational.ts";
import type { Payer } from "./policy.ts";
import { inOrder, type ScopeWeights, type Weighed } from "./spread.ts";

/** The GPU time that quotas reserve for a namespace in an hour of a cluster. */
export interface Reservation {
  readonly namespace: string;
  /** In GPU-milliseconds, by whose the namespace was. */
  readonly pieces: readonly { readonly team: string; readonly costCenter: string; readonly millis: number }[];
}

/** A line as far as a spread by quota looks at it. */
export interface QuotaLine {
  readonly payer: Payer;
  /** The holder of the share, also where another pays. Undefined where nobody holds it, and for lines that were spread. */
  readonly holder?: { readonly namespace: string } | undefined;
  readonly shareMillis: Rational;
}

/**
 * The weights of a spread by quota, of all lines of an hour of a cluster: each team and cost centre weighs the GPU time that is
 * reserved for its namespaces and that nothing in them holds, and `rest` weighs what is free beyond that. So nobody gets more than the
 * own unused part; where less is free than is reserved, it is divided in proportion. Nobody weighs where all quotas are in use.
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

/** A weighed team and cost centre, whose weight is a fraction. */
type Unused = Weighed & { readonly weight: Rational };

/** What is not held of a namespace's reservation, by whose it was in proportion. */
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
