import { commonModel } from "../gpu-model/names.ts";
import { beginsAt, type Match, type PriceBook, type PriceEntry } from "./book.ts";
import { commonName } from "../glob.ts";
import type { PriceFacts } from "./match.ts";
import { compareRanks, rankEntries, type RankedEntry } from "./rank.ts";
import { stretches } from "./stretch.ts";

/** A finding about a book that is valid but probably not intended, without knowledge of any node. */
export interface BookFinding {
  /**
   * `tie`: a node can match these entries equally, and nothing would price it. `gap`: nothing prices the entry's nodes between two of its
   * terms. `never`: an entry that never prices a node, because other entries win wherever it matches.
   */
  readonly kind: "tie" | "gap" | "never";
  readonly entries: readonly PriceEntry[];
  /** Milliseconds since the epoch, half-open. For an entry that never wins: its own term. */
  readonly fromMillis: number;
  readonly untilMillis: number;
}

/** Returns ties, then gaps, then entries that never win, each in the order of the book. */
export function examineBook({ prices }: Pick<PriceBook, "prices">): readonly BookFinding[] {
  const ranked = rankEntries(prices);
  const ties = tiesIn(ranked);
  const tied = new Set(ties.flatMap(({ entries }) => entries));
  return [
    ...ties,
    ...gapsIn(prices, ranked),
    ...neverIn(prices, ranked).filter(({ entries: [entry] }) => !tied.has(entry!)),
  ];
}

/** Returns pairs of equal rank that a node can match at the same time, unless a third entry wins over both. */
function tiesIn(ranked: readonly RankedEntry[]): readonly BookFinding[] {
  return ranked.flatMap(({ entry: one, rank }, index) =>
    ranked.slice(index + 1).flatMap(({ entry: other, rank: otherRank }): readonly BookFinding[] => {
      const facts = compareRanks(rank, otherRank) === 0 ? nodeOfBoth(one, other) : undefined;
      const fromMillis = Math.max(beginsAt(one), beginsAt(other));
      const untilMillis = Math.min(one.untilMillis, other.untilMillis);
      if (facts === undefined || fromMillis >= untilMillis) return [];
      return stretches(ranked, facts, fromMillis, untilMillis).flatMap(({ winner, ...times }) =>
        winner.kind === "tied" && winner.entries.includes(one) && winner.entries.includes(other)
          ? [{ kind: "tie" as const, entries: [one, other], ...times }]
          : [],
      );
    }),
  );
}

/** Returns the times between the terms of entries with the same match in which no other entry prices the same nodes. */
function gapsIn(prices: readonly PriceEntry[], ranked: readonly RankedEntry[]): readonly BookFinding[] {
  const groups = new Map<string, { readonly facts: PriceFacts; readonly entries: PriceEntry[] }>();
  for (const entry of prices) {
    for (const facts of nodesOf(entry)) {
      const group = groups.get(JSON.stringify(facts));
      if (group === undefined) groups.set(JSON.stringify(facts), { facts, entries: [entry] });
      else group.entries.push(entry);
    }
  }
  return [...groups.values()].flatMap(({ facts, entries }) => {
    const from = Math.min(...entries.map(beginsAt));
    const until = Math.max(...entries.map(({ untilMillis }) => untilMillis));
    return from >= until
      ? []
      : stretches(ranked, facts, from, until).flatMap(({ winner, ...times }) =>
          winner.kind === "unpriced" ? [{ kind: "gap" as const, entries, ...times }] : [],
        );
  });
}

/**
 * Returns entries that never win. Each is tested with a node that has only the facts that the entry requires, because the fewest other
 * entries match such a node.
 */
function neverIn(prices: readonly PriceEntry[], ranked: readonly RankedEntry[]): readonly BookFinding[] {
  return prices.flatMap((entry) => {
    const wins = nodesOf(entry).some((facts) =>
      stretches(ranked, facts, -Infinity, Infinity).some(
        ({ winner }) => winner.kind === "priced" && winner.entry === entry,
      ),
    );
    const { fromMillis, untilMillis } = entry;
    return wins ? [] : [{ kind: "never" as const, entries: [entry], fromMillis, untilMillis }];
  });
}

const UNNAMED = "";

/** Returns the simplest nodes that an entry prices: one, or each machine that it lists. */
function nodesOf(entry: PriceEntry): readonly PriceFacts[] {
  const names = entry.per === "owned" && entry.owned.machines.length > 0 ? entry.owned.machines : [UNNAMED];
  return names.map((name) => nodeOf(entry.match, name));
}

/** Returns the simplest node that matches two entries; undefined if none can. */
function nodeOfBoth(one: PriceEntry, other: PriceEntry): PriceFacts | undefined {
  const [names, others] = [one, other].map(nodesOf);
  const shared = names?.find(({ node }) => others?.some((each) => each.node === node));
  const { model: a, ...match } = one.match;
  const { model: b, ...otherMatch } = other.match;
  const model = a === undefined || b === undefined ? (a ?? b) : (commonName(a, b) ?? commonModel(a, b));
  if (shared === undefined || (model === undefined && a !== undefined)) return undefined;
  const isAgreed = agree(match, otherMatch) && agree(match.nodeLabels, otherMatch.nodeLabels);
  if (!isAgreed) return undefined;
  const nodeLabels = { ...match.nodeLabels, ...otherMatch.nodeLabels };
  return nodeOf({ ...match, ...otherMatch, nodeLabels, ...(model === undefined ? {} : { model }) }, shared.node);
}

/** Returns whether both mappings have the same text for each common key. */
function agree(one: object, other: object): boolean {
  const known = new Map<string, unknown>(Object.entries(other));
  return Object.entries(one).every(
    ([key, value]) => typeof value !== "string" || !known.has(key) || known.get(key) === value,
  );
}

function nodeOf({ model, nodeLabels, ...match }: Match, node: string): PriceFacts {
  const name = model === undefined ? undefined : commonName(model, "*");
  // The node has only the keys of the match. A cluster with an empty name matches no key.
  return { cluster: UNNAMED, ...match, node, labels: nodeLabels, ...(name === undefined ? {} : { model: name }) };
}
