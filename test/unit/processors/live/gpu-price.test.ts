import { describe, expect, it } from "vitest";
import { rational } from "../../../../domain/exact/rational.ts";
import { asNumber, createGpuPrices } from "../../../../processors/live/gpu-price.ts";
import { ledgerOf } from "../../../../runtime/config/ledger.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";
import { inventoryFact, NOON } from "../../../support/facts.ts";
import { DAY_MILLIS } from "../../../../domain/time.ts";

const bookOf = (text: string) => ledgerOf(parseConfig(text, { source: "test", folder: ".", env: {} })).book;

function pricesOf(text: string): ReturnType<typeof createGpuPrices> {
  return createGpuPrices(bookOf(text), (_, error) => {
    throw error;
  });
}

describe("the current price of a GPU", () => {
  it("is the price per GPU, or a node's price divided by its GPUs", () => {
    const perGpu = pricesOf('prices: [{ from: 2026-01-01, match: {}, per: gpu-hour, list: "3.60" }]');
    const perNode = pricesOf('prices: [{ from: 2026-01-01, match: {}, per: node-hour, list: "98.32" }]');
    const node = inventoryFact();
    expect(asNumber(perGpu(node, node.gpus[0]!.model, NOON).perHour!, rational(1))).toBe(3.6);
    expect(asNumber(perNode(node, node.gpus[0]!.model, NOON).perHour!, rational(2))).toBeCloseTo(24.58, 6);
  });

  it("is the price of the moment, also if it changes within the hour", () => {
    const prices = pricesOf(`prices:
  - { match: {}, per: gpu-hour, list: "2", from: 2026-01-01 }
  - { match: {}, per: gpu-hour, list: "4", from: "2026-03-01T12:30:00Z" }`);
    const node = inventoryFact();
    const at = (minutes: number) => asNumber(prices(node, undefined, NOON + minutes * 60_000).perHour!, rational(1));
    expect([at(0), at(29), at(30), at(59)]).toEqual([2, 2, 4, 4]);
    const until = (minutes: number) => prices(node, undefined, NOON + minutes * 60_000).untilMillis - NOON;
    expect([until(0), until(29), until(30)]).toEqual([30, 30, 60].map((minutes) => minutes * 60_000));
  });

  it.each([
    ["joined in this hour", 20],
    ["joined in this very moment", 30],
    ["joined by a clock that is ahead", 31],
  ])("is the same for a node that has %s", (_, minutes) => {
    const at = NOON + 30 * 60_000;
    const joined = inventoryFact({ joined: NOON + minutes * 60_000 });
    const perGpu = pricesOf('prices: [{ from: 2026-01-01, match: {}, per: gpu-hour, list: "3.60" }]');
    expect(asNumber(perGpu(joined, undefined, at).perHour!, rational(1))).toBe(3.6);
    const perNode = pricesOf('prices: [{ from: 2026-01-01, match: {}, per: node-hour, list: "98.32" }]');
    expect(asNumber(perNode(joined, undefined, at).perHour!, rational(2))).toBeCloseTo(24.58, 6);
  });

  it("is absent for the hour if it cannot be computed, and other GPUs keep theirs", () => {
    const failed: string[] = [];
    const book = bookOf('prices: [{ from: 2026-01-01, match: {}, per: gpu-hour, list: "3.60" }]');
    const prices = createGpuPrices(book, ({ node }) => void failed.push(node));
    const broken = { ...inventoryFact({ node: "broken" }), joined: NOON - 0.5 };
    expect(prices(broken, undefined, NOON)).toEqual({ perHour: undefined, untilMillis: NOON + 3_600_000 });
    expect(failed).toEqual(["broken"]);
    expect(asNumber(prices(inventoryFact(), undefined, NOON).perHour!, rational(1))).toBe(3.6);
  });

  it("is absent if no entry has a price for the node, and if the node has no GPU", () => {
    const prices = pricesOf('prices: [{ from: 2026-01-01, match: { cluster: other }, per: gpu-hour, list: "1" }]');
    expect(prices(inventoryFact(), undefined, NOON + DAY_MILLIS).perHour).toBeUndefined();
    expect(prices(inventoryFact({ gpus: [] }), undefined, NOON).perHour).toBeUndefined();
  });
});
