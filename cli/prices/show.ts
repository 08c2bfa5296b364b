import { roundedDecimal, type Rational } from "../../domain/exact/rational.ts";
import type { CostKind, PriceBook, PriceEntry } from "../../domain/price/book.ts";
import type { PriceFacts, Winner } from "../../domain/price/match.ts";
import { ownedAccrual } from "../../domain/price/owned.ts";
import { rankEntries } from "../../domain/price/rank.ts";
import { stretches } from "../../domain/price/stretch.ts";
import { renderTable } from "../table.ts";
import { timeText } from "./time.ts";

const DIGITS = 9;

/** The price of a node at a time. */
export interface ShownPrice {
  readonly cluster: string;
  readonly node: string;
  readonly instanceType?: string;
  readonly model?: string;
  readonly capacityType?: string;
  readonly status: Winner["kind"];
  /** The names of the entry, or of the entries that tie. */
  readonly entries: readonly string[];
  /** The start and the end of this price, for a node whose properties do not change. */
  readonly from?: string;
  readonly until?: string;
  /** Absent if no single entry prices the node. For an owned machine, its cost in the running month, without power. */
  readonly price?: Readonly<Record<CostKind, string>> & {
    readonly per: "gpu-hour" | "node-hour" | "month";
    readonly currency: string;
  };
}

/** Returns the price of each node at a time, in the order of the nodes. */
export function showPrices(book: PriceBook, nodes: readonly PriceFacts[], atMillis: number): readonly ShownPrice[] {
  const ranked = rankEntries(book.prices);
  return nodes.map((facts) => {
    const { cluster, node, instanceType, model, capacityType } = facts;
    const stretch = stretches(ranked, facts, -Infinity, Infinity).find(
      ({ fromMillis, untilMillis }) => fromMillis <= atMillis && atMillis < untilMillis,
    );
    const winner: Winner = stretch?.winner ?? { kind: "unpriced" };
    const [from, until] = [timeText(stretch?.fromMillis ?? -Infinity), timeText(stretch?.untilMillis ?? Infinity)];
    return {
      cluster,
      node,
      ...(instanceType === undefined ? {} : { instanceType }),
      ...(model === undefined ? {} : { model }),
      ...(capacityType === undefined ? {} : { capacityType }),
      status: winner.kind,
      entries: entriesOf(winner).map(({ name }) => name),
      ...(from === undefined ? {} : { from }),
      ...(until === undefined ? {} : { until }),
      ...(winner.kind === "priced" ? { price: priceOf(winner.entry, atMillis) } : {}),
    };
  });
}

function entriesOf(winner: Winner): readonly PriceEntry[] {
  if (winner.kind === "priced") return [winner.entry];
  return winner.kind === "tied" ? winner.entries : [];
}

function priceOf(entry: PriceEntry, atMillis: number): NonNullable<ShownPrice["price"]> {
  const { currency } = entry;
  if (entry.per !== "owned") {
    const { list, contracted, effective } = entry.prices;
    return {
      per: entry.per,
      currency,
      list: decimal(list),
      contracted: decimal(contracted),
      effective: decimal(effective),
    };
  }
  const date = new Date(atMillis);
  const [begin, end] = [0, 1].map((more) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more));
  const month = decimal(ownedAccrual(entry.owned, begin ?? atMillis).exactAt(end ?? atMillis));
  return { per: "month", currency, list: month, contracted: month, effective: month };
}

function decimal(value: Rational): string {
  return roundedDecimal(value, DIGITS);
}

/** Returns a sentence with the number of nodes, and a table of their prices. */
export function renderShown(shown: readonly ShownPrice[], atMillis: number): string {
  const header = [
    "node",
    "instance type",
    "model",
    "capacity",
    "priced by",
    "from",
    "until",
    "per",
    "list",
    "contracted",
  ];
  const rows = shown.map(
    ({ cluster, node, instanceType, model, capacityType, status, entries, from, until, price }) => [
      `${cluster}/${node === "" ? "-" : node}`,
      instanceType ?? "-",
      model ?? "-",
      capacityType ?? "-",
      status === "priced" ? entries.join("") : status === "tied" ? `tied: ${entries.join(", ")}` : "nothing",
      from ?? "-",
      until ?? "-",
      price?.per ?? "-",
      price?.list ?? "-",
      price?.contracted ?? "-",
      price?.effective ?? "-",
      price?.currency ?? "-",
    ],
  );
  const count = `${shown.length} node${shown.length === 1 ? "" : "s"} at ${timeText(atMillis) ?? "no time"}`;
  return rows.length === 0 ? count : `${count}\n\n${renderTable([...header, "effective", "currency"], rows)}`;
}
