import { beginsAt } from "./book.ts";
import { candidates, firstHolding, type PriceFacts, type Winner } from "./match.ts";
import type { RankedEntry } from "./rank.ts";

/** The longest half-open time in which the same entry wins, the same entries tie, or nothing prices a GPU. */
export interface Stretch {
  /** Milliseconds since the epoch. */
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly winner: Winner;
}

/**
 * Cuts a time where the winner changes, for a GPU whose facts stay the same. If `fromMillis` is -Infinity, a stretch begins when its entry
 * last began to win, and its cost is counted from there ({@link originOf}).
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

/** Joins adjacent stretches with the same winner, for a GPU with a change that does not affect prices. */
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
 * Returns when the cost of a stretch begins to count: the latest of the entry's `from`, the slot's appearance, and the moment the entry
 * last began to win. The cost of an owned machine begins with its service, even if the machine was not seen yet.
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
