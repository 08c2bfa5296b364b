import type { PriceEntry } from "./book.ts";
import type { PriceFacts } from "./match.ts";
import type { RankedEntry } from "./rank.ts";
import { stretches } from "./stretch.ts";

/** A GPU, or a node of GPUs of one model, as long as the same is known of it. */
export interface CheckedNode {
  readonly facts: PriceFacts;
  /** Milliseconds since the epoch. */
  readonly fromMillis: number;
  readonly untilMillis: number;
}

/** A time in which a book does not say what a node costs: nothing prices it, or entries of equal rank do. */
export interface PriceFinding {
  readonly kind: "gap" | "tie";
  readonly facts: PriceFacts;
  readonly fromMillis: number;
  readonly untilMillis: number;
  /** Those that tie; empty for a gap. */
  readonly entries: readonly PriceEntry[];
}

/** What `gpu-ledger prices check` prints: the gaps and the ties of a book over a period, by node as given, then by time. */
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
