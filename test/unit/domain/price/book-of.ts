import type { PriceBook, PriceEntry } from "../../../../domain/price/book.ts";
import type { PriceFacts } from "../../../../domain/price/match.ts";
import { readBook } from "../../../../domain/price/read.ts";

/** The book of a file's content, with USD as its currency. Fails with all problems of the content. */
export function bookOf(content: Readonly<Record<string, unknown>>): PriceBook {
  const read = readBook({ currency: "USD", ...content });
  if ("book" in read) return read.book;
  throw new Error(read.problems.map(({ key, allowed }) => `${key}: ${allowed}`).join("\n"));
}

/** An entry with this match, from 2026-01-01 on, at 1 per gpu-hour by default. */
export function entryOf(match: unknown, others: Readonly<Record<string, unknown>> = {}): PriceEntry {
  const price = "owned" in others ? {} : { per: "gpu-hour", list: "1" };
  const [entry] = bookOf({ prices: [{ match, from: "2026-01-01", ...price, ...others }] }).prices;
  if (entry === undefined) throw new Error("a book of one entry has one");
  return entry;
}

/** A GPU with all facts known. */
export const KNOWN: PriceFacts = {
  cluster: "prod",
  node: "gpu-a",
  region: "eu-west-1",
  zone: "eu-west-1a",
  instanceType: "p4d.24xlarge",
  pool: "dgx",
  model: "NVIDIA-A100-SXM4-40GB",
  capacityType: "on-demand",
  labels: { rack: "r7", row: "b" },
};

/** The milliseconds since the epoch of an ISO 8601 time. */
export function at(time: string): number {
  return Date.parse(time);
}
