import type { PriceEntry } from "./book.ts";
import type { PriceFacts } from "./match.ts";
import type { RankedEntry } from "./rank.ts";
import { stretches } from "./stretch.ts";

/** A GPU, or a node with GPUs of one model, for the time in which its facts stay the same. */
export interface CheckedNode {
  readonly facts: PriceFacts;
  /** Milliseconds since the epoch. */
  readonly fromMillis: number;
  readonly untilMillis: number;
}

/** A time in which a book does not determine the cost of a node: no entry prices it, or entries of equal rank do. */
export interface PriceFinding {
  readonly kind: "gap" | "tie";
  readonly facts: PriceFacts;
  readonly fromMillis: number;
  readonly untilMillis: number;
  /** The entries that tie; empty for a gap. */
  readonly entries: readonly PriceEntry[];
}

/**
 * Returns the output of `gpu-ledger prices check`: the gaps and the ties of a book over a period, in the order of the nodes, then by time.
 */
export function checkPrices(
  ranked: readonly RankedEntry[],
  nodes: readonly CheckedNode[],
  period: { readonly fromMillis: number; readonly untilMillis: number },
): readonly PriceFinding[] {
  return nodes.flatMap(({ facts, ...life }) => {
    const fromMillis = Math.max(life.fromMillis, period.fromMillis);
    const untilMillis = Math.min(life.untilMillis, period.untilMillis);
    if (fromMillis >= untilMillis) return [];
    return stretches(ranked, facts, fromMillis, untilMillis).flatMap(({ winner, ...times }): PriceFinding[] => {
      if (winner.kind === "priced") return [];
      const isTie = winner.kind === "tied";
      return [{ kind: isTie ? "tie" : "gap", facts, ...times, entries: isTie ? winner.entries : [] }];
    });
  });
}
