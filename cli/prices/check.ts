import type { PriceBook } from "../../domain/price/book.ts";
import { checkPrices, type PriceFinding } from "../../domain/price/check.ts";
import { examineBook, type BookFinding } from "../../domain/price/examine.ts";
import { rankEntries } from "../../domain/price/rank.ts";
import { renderTable } from "../table.ts";
import type { BookSource } from "./book.ts";
import { storedNodes } from "./nodes.ts";
import { timeText } from "./time.ts";

/** A problem of a price book, for people and as JSON. */
export interface BookProblem {
  /**
   * `mistake`: the book is not valid. `tie` and `gap`: a node has no price, because entries have equal rank or because no entry matches.
   * `never`: the entry prices no node at any time.
   */
  readonly kind: "mistake" | "tie" | "gap" | "never";
  /** Keys of the book. */
  readonly keys: readonly string[];
  readonly line?: number;
  /** A node of the store; absent if the book alone shows the problem. */
  readonly node?: string;
  /** ISO 8601; absent if it has no beginning or no end. */
  readonly from?: string;
  readonly until?: string;
  readonly message: string;
}

/** The result of `prices check`. */
export interface BookCheck {
  readonly source: string;
  readonly entries: number;
  /** The number of checked nodes of the store; absent without an outside store. */
  readonly nodes?: number;
  readonly problems: readonly BookProblem[];
}

/** Checks a book by itself and, if an outside store is configured, against the store's nodes over a period. Fails with a `StoreError`. */
export async function checkBookOf(
  source: BookSource,
  period: { readonly fromMillis: number; readonly untilMillis: number },
): Promise<BookCheck> {
  const { name, config } = source;
  if (!("book" in source)) {
    const problems = source.problems.map(({ key, line, message }) => ({
      kind: "mistake" as const,
      keys: [key],
      ...(line === undefined ? {} : { line }),
      message,
    }));
    return { source: name, entries: 0, problems };
  }
  const { book } = source;
  const stored = await storedNodes(config, period);
  const problems = examineBook(book).map(problemOfBook);
  if ("unasked" in stored) return { source: name, entries: entriesOf(book), problems };
  const { nodes } = stored;
  const found = checkPrices(rankEntries(book.prices), nodes, period).map(problemOfNode);
  return { source: name, entries: entriesOf(book), nodes: nodes.length, problems: [...problems, ...found] };
}

function entriesOf({ prices, commitments, fixed }: PriceBook): number {
  return prices.length + commitments.length + fixed.length;
}

const OF_BOOK: Readonly<Record<BookFinding["kind"], string>> = {
  tie: "a node can match these entries equally, and then it has no price: add a key to one of them",
  gap: "their nodes have no price between the terms of these entries",
  never: "the entry never sets a price: other entries win for all its nodes, or it ends before it begins",
};

function problemOfBook({ kind, entries, ...times }: BookFinding): BookProblem {
  return { kind, keys: entries.map(({ key }) => key), ...timesOf(times), message: OF_BOOK[kind] };
}

function problemOfNode({ kind, facts, entries, ...times }: PriceFinding): BookProblem {
  const { cluster, node, instanceType, model, capacityType } = facts;
  const known = [instanceType, model, capacityType].filter((each) => each !== undefined).join(", ");
  return {
    kind,
    keys: entries.map(({ key }) => key),
    node: `${cluster}/${node}`,
    ...timesOf(times),
    message: `${kind === "gap" ? "no entry matches" : "entries of equal rank match"}${known === "" ? "" : ` (${known})`}`,
  };
}

function timesOf(times: {
  readonly fromMillis: number;
  readonly untilMillis: number;
}): Pick<BookProblem, "from" | "until"> {
  const [from, until] = [timeText(times.fromMillis), timeText(times.untilMillis)];
  return { ...(from === undefined ? {} : { from }), ...(until === undefined ? {} : { until }) };
}

/** Returns a sentence with the number of problems, and a table of them. */
export function renderCheck({ source, entries, nodes, problems }: BookCheck): string {
  const looked = nodes === undefined ? "" : `, ${nodes} node${nodes === 1 ? "" : "s"} of the store`;
  const found = problems.length === 0 ? "no problems found" : `problems found: ${problems.length}`;
  const title = `${source}: ${entries} entr${entries === 1 ? "y" : "ies"}${looked}, ${found}`;
  if (problems.length === 0) return title;
  const rows = problems.map(({ kind, keys, line, node, from, until, message }) => [
    kind,
    node ?? "-",
    `${keys.length === 0 ? "-" : keys.join(", ")}${line === undefined ? "" : ` (line ${line})`}`,
    from ?? "-",
    until ?? "-",
    message,
  ]);
  return `${title}\n\n${renderTable(["problem", "node", "where", "from", "until", "what"], rows)}`;
}
