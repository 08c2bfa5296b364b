import { beginsAt } from "./book.ts";
import { candidates, firstHolding, type PriceFacts, type Winner } from "./match.ts";
import type { RankedEntry } from "./rank.ts";

/** The longest time, half-open, in which the same entry wins, the same entries tie, or nothing prices a GPU. */
export interface Stretch {
  /** Milliseconds since the epoch. */
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly winner: Winner;
}

/**
 * A time cut where the winner changes for a GPU of which the same is known all the time. Asked from -Infinity on, a stretch
 * begins at the moment its entry last began to win, from which its cost is counted ({@link originOf}).
 */
export function stretches(
  ranked: readonly RankedEntry[],
  facts: PriceFacts,
  fromMillis: number,
  untilMillis: number,
): readonly Stretch[] {
  const possible = candidates(ranked, facts);
  const changes = possible.flatMap(({ entry }) => [beginsAt(entry), entry.untilMillis]);
  const inner = changes.filter((at) => fromMillis < at && at < untilMillis).toSorted((a, b) => a - b);
  const cuts = [...new Set([fromMillis, ...inner, untilMillis])];
  const pieces = cuts.slice(0, -1).map((from, index) => ({
    fromMillis: from,
    untilMillis: cuts[index + 1] ?? untilMillis,
    winner: firstHolding(possible, from),
  }));
  return joinStretches(pieces);
}

/** Adjoining stretches with the same winner made one, for a GPU of which something changed that changes no price. */
export function joinStretches(pieces: readonly Stretch[]): readonly Stretch[] {
  const joined: Stretch[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    const continues = last?.untilMillis === piece.fromMillis && isSame(last.winner, piece.winner);
    if (continues) joined[joined.length - 1] = { ...last, untilMillis: piece.untilMillis };
    else joined.push(piece);
  }
  return joined;
}

/**
 * When the cost of a stretch begins to be counted (ledger, "Words"): the latest of the entry's `from`, the slot's
 * appearance, and the moment the entry last began to win. An owned machine costs from its service on, whether or not it was
 * seen by then.
 */
export function originOf({ fromMillis, winner }: Stretch, appearedMillis: number): number {
  const isOwned = winner.kind === "priced" && winner.entry.per === "owned";
  return isOwned ? fromMillis : Math.max(fromMillis, appearedMillis);
}

function isSame(a: Winner, b: Winner): boolean {
  if (a.kind === "priced" && b.kind === "priced") return a.entry === b.entry;
  if (a.kind !== "tied" || b.kind !== "tied") return a.kind === b.kind;
  return a.entries.length === b.entries.length && a.entries.every((entry, index) => entry === b.entries[index]);
}
