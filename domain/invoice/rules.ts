import { periodOf } from "../period.ts";
import type { ExportLineKind } from "./export-line.ts";

/** Who bears a cost: the node whose machine it names, the platform, or nobody. What nobody bears is listed when the bill is reconciled. */
export type Booking = "node" | "platform" | "none";

/** The kinds of cost that have a booking: those of lines, the time of machines outside their nodes, and machines that joined no cluster. */
export type BookedKind = Exclude<ExportLineKind, "machine" | "reservation"> | "outside" | "no-cluster";

/** The default bookings. A disk and a licence of a machine are a part of its node. */
export const DEFAULT_BOOKINGS = {
  disk: "node",
  licence: "node",
  network: "platform",
  "unused-commitment": "platform",
  // Google leaves the cost of a commitment on its fee. Other purchases have no effective cost.
  purchase: "platform",
  credit: "platform",
  refund: "platform",
  support: "platform",
  fee: "platform",
  tax: "platform",
  outside: "platform",
  "no-cluster": "none",
} as const satisfies Readonly<Record<BookedKind, Booking>>;

/** The kinds of lines whose cost a node can bear. */
export const OF_MACHINES = ["disk", "licence", "network"] as const satisfies readonly BookedKind[];

/** How the lines of one source become costs. */
export interface SourceRules {
  /** The name of the source in the configuration. */
  readonly name: string;
  /**
   * `instance`: a machine has the cost of its own lines. `pool`: the machines of one account, region, type and hour have the mean, because
   * on which of them a savings plan lands is luck. Spot machines are a pool of their own.
   */
  readonly share: "instance" | "pool";
  readonly bookings: Readonly<Record<BookedKind, Booking>>;
  /** The invoice's own rates of exchange, which come before those of the price book. */
  readonly rates: readonly InvoiceRate[];
}

/** The rate at which an invoice of an account is paid: one unit of `currency` is `rate` units of the book's currency. */
export interface InvoiceRate {
  readonly account: string;
  /** The billing month: `2026-03`. */
  readonly period: string;
  readonly currency: string;
  /** An exact decimal. */
  readonly rate: string;
}

/** Returns the invoice's own rate for a line; undefined if the rates of the price book count. */
export function rateOf(
  { rates }: Pick<SourceRules, "rates">,
  of: { readonly account: string; readonly billingFrom: number; readonly currency: string },
): string | undefined {
  const { name } = periodOf(of.billingFrom);
  return rates.find(
    ({ account, period, currency }) => account === of.account && period === name && currency === of.currency,
  )?.rate;
}

/** The beginning of the name of the price that charges by exports have; the name of the source follows. */
export const EXPORT_PRICE = "export ";

/** The source of a cost: an estimate by the price book, or an export whose invoice is open or final. */
export type InvoiceStatus = "estimated" | "provisional" | "invoiced";
