import { chargeBeside, type Charge, type Costs } from "../../../domain/charge/charge.ts";
import { FLEET } from "../../../domain/charge/fleet.ts";
import { incurredIn, steadyAccrual } from "../../../domain/exact/accrual.ts";
import { divide, multiply, ONE, rational, type Rational } from "../../../domain/exact/rational.ts";
import { exactly, sum } from "../../../domain/exact/units.ts";
import { EXPORT_PRICE, type InvoiceStatus } from "../../../domain/invoice/rules.ts";
import type { CostKind, NodeHourEntry } from "../../../domain/price/book.ts";
import { converted, type Rates } from "../../../domain/price/conversion.ts";
import { divideNodeCost } from "../../../domain/price/cost.ts";
import { perKind } from "../../../domain/price/kinds.ts";
import { periodOf } from "../../../domain/period.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { NodePrices, PiecePrice, PricedMachine, PricePiece } from "./node-prices.ts";

/** A cost of an export within one hour, in the export's currency. */
export interface InvoicedCost {
  /** Milliseconds since the epoch, half-open. */
  readonly from: number;
  readonly until: number;
  readonly source: string;
  readonly currency: string;
  readonly costs: Costs;
  /** The invoice's own rate to the book's currency; undefined if the rates of the book count. */
  readonly rate: Rational | undefined;
  readonly status: Exclude<InvoiceStatus, "estimated">;
}

/** A cost of an export that belongs to no node, and that the platform bears. */
export interface PlatformCost extends InvoicedCost, Pick<Charge, "region" | "zone" | "instanceType" | "capacityType"> {
  /** `tax`, `outside`: the kind of its lines, or why no node has it. */
  readonly kind: string;
}

/** Returns the costs of a node in the hour of a time; empty if no export has any. */
export type InvoicedNode = (
  machine: { readonly cluster: string; readonly node: string; readonly uid: string },
  atMillis: number,
) => readonly InvoicedCost[];

/** Returns the cost of a part of an export's cost in the currency of the book. The parts of any split sum to the whole. */
export function invoicedIn(
  { from, until, costs, currency, rate }: InvoicedCost,
  book: Rates,
  at: Span = [from, until],
): Costs {
  const hours = divide(rational(until - from), rational(HOUR_MILLIS));
  const [begins, ends] = [Math.max(from, at[0]), Math.min(until, at[1])];
  return perKind(costs, (cost) => {
    const perHour = divide(exactly(cost), hours);
    const accrual =
      rate === undefined
        ? converted(steadyAccrual<"currency">(perHour, from), currency, book)
        : steadyAccrual<"currency">(multiply(perHour, rate), from);
    return incurredIn(accrual, begins, ends);
  });
}

/** Returns the lines of the platform for the costs of exports that belong to no node. */
export function platformCharges(costs: readonly PlatformCost[], book: Rates): readonly Charge[] {
  return costs.map((cost) => {
    const { kind, source, status, from: fromMillis, until: untilMillis } = cost;
    const { region, zone, instanceType, capacityType } = cost;
    return chargeBeside(
      {
        fromMillis,
        untilMillis,
        cluster: FLEET,
        region,
        zone,
        instanceType,
        capacityType,
        invoiceStatus: status,
        state: kind === "unused-commitment" ? "unused commitment" : "invoice",
        because: kind === "unused-commitment" ? "" : kind,
        costs: invoicedIn(cost, book),
      },
      { price: `${EXPORT_PRICE}${source}`, pricedSince: periodOf(fromMillis).from },
    );
  });
}

type Span = readonly [from: number, until: number];

/**
 * Returns prices: where exports have a cost of a node, that cost, divided over its delivered GPUs; elsewhere the price of the
 * book, which then is an estimate.
 */
export function withInvoiced(prices: NodePrices, costsOf: InvoicedNode): NodePrices {
  const { book } = prices;
  function priceOf(
    costs: readonly InvoicedCost[],
    { machine }: PricedMachine,
    span: Span,
    estimate: PricePiece,
  ): PiecePrice {
    const parts = costs.map((cost) => invoicedIn(cost, book, span));
    const sumOf = (kind: CostKind) => sum(parts.map((part) => part[kind]));
    const gpuPart = estimate.price?.entry.per === "gpu-hour" ? ONE : (estimate.price?.entry.gpuPart ?? ONE);
    const all = { list: sumOf("list"), contracted: sumOf("contracted"), effective: sumOf("effective") };
    const divided = perKind(all, (cost) => divideNodeCost(cost, machine.delivered, gpuPart));
    const entry = entryOf(costs[0]!, gpuPart);
    return {
      entry,
      since: entry.fromMillis,
      status: costs.every(({ status }) => status === "invoiced") ? "invoiced" : "provisional",
      gpu: (slot) => perKind(divided, ({ gpus }) => gpus[slot]!),
      power: () => undefined,
      nonGpu: perKind(divided, ({ nonGpu }) => nonGpu),
    };
  }

  return {
    book,
    pieces(of, from, until) {
      const { cluster, node, machine } = of;
      const costs = costsOf({ cluster, node, uid: machine.machine ?? "" }, from);
      const edges = costs.flatMap((cost) => [cost.from, cost.until]);
      return prices.pieces(of, from, until).flatMap((piece) =>
        cutAt(piece, edges).map((part): PricePiece => {
          const inside = costs.filter((cost) => cost.from < part.untilMillis && cost.until > part.fromMillis);
          const span = [part.fromMillis, part.untilMillis] as const;
          if (inside.length > 0) return { ...part, price: priceOf(inside, of, span, piece) };
          if (part.price === undefined) return part;
          const isWhole = span[0] === piece.fromMillis && span[1] === piece.untilMillis;
          const [own = part] = isWhole ? [piece] : prices.pieces(of, ...span);
          return { ...own, price: own.price && { ...own.price, status: "estimated" } };
        }),
      );
    },
  };
}

function cutAt(piece: PricePiece, edges: readonly number[]): readonly PricePiece[] {
  const inner = edges.filter((at) => piece.fromMillis < at && at < piece.untilMillis);
  const cuts = [...new Set([piece.fromMillis, ...inner, piece.untilMillis])].toSorted((a, b) => a - b);
  return cuts.slice(1).map((untilMillis, index) => ({ ...piece, fromMillis: cuts[index]!, untilMillis }));
}

/** Returns the entry that charges of an export name. It counts from the start of the month, so that a day's charges have one price. */
function entryOf({ source, from, currency }: InvoicedCost, gpuPart: NodeHourEntry["gpuPart"]): NodeHourEntry {
  return {
    key: `invoices.${source}`,
    name: `${EXPORT_PRICE}${source}`,
    isNamed: true,
    match: { nodeLabels: {} },
    fromMillis: periodOf(from).from,
    untilMillis: Infinity,
    currency,
    per: "node-hour",
    prices: { list: ONE, contracted: ONE, effective: ONE },
    gpuPart,
  };
}
