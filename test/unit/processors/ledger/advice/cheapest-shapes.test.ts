import { describe, expect, it } from "vitest";
import { createCheaperShapes } from "../../../../../processors/ledger/advice/cheapest.ts";
import { createNodePrices } from "../../../../../processors/ledger/charge/node-prices.ts";
import { ledgerOf } from "../../../../../runtime/config/ledger.ts";
import { parseConfig } from "../../../../../runtime/config/load.ts";

const WINDOW = { from: Date.UTC(2026, 2, 2), until: Date.UTC(2026, 2, 9) };
const PRICES = createNodePrices(
  ledgerOf(
    parseConfig(
      JSON.stringify({
        prices: [
          { match: { model: "NVIDIA-A100*" }, from: "2026-01-01", per: "gpu-hour", effective: "2" },
          { match: { model: "NVIDIA-H100*" }, from: "2026-01-01", per: "gpu-hour", effective: "4" },
          { match: { model: "NVIDIA-L4" }, from: "2026-01-01", per: "gpu-hour", effective: "0.80" },
          { match: { model: "NVIDIA-L4", pool: "cheap" }, from: "2026-01-01", per: "gpu-hour", effective: "0.70" },
          { match: { model: "NVIDIA-L4", pool: "late" }, from: "2026-03-09", per: "gpu-hour", effective: "0.10" },
        ],
      }),
      { source: "the test", folder: ".", env: {} },
    ),
  ).book,
);
/** An A100 that costs 2 an hour, or a model without a price. */
const gpu = (model = "NVIDIA-A100-SXM4-40GB") => ({
  cluster: "prod",
  node: "a",
  model,
  machine: { appearedAt: WINDOW.from, since: WINDOW.from, delivered: 8, labels: {} },
});
const cheapest = (shapes: Parameters<typeof createCheaperShapes>[2], of = gpu()) =>
  createCheaperShapes(PRICES, "prod", shapes, WINDOW)(of);
const L4 = { model: "NVIDIA-L4" };
const T4 = { model: "Tesla-T4" };

describe("the cheapest shapes", () => {
  it("have one pool of each model, by the prices at the end of the window", () => {
    expect(
      cheapest([
        { ...L4, pool: "a" },
        { ...L4, pool: "cheap" },
        { ...L4, pool: "late" },
      ]),
    ).toEqual([{ ...L4, pool: "cheap" }]);
  });

  it("are the first ones of equal prices", () => {
    expect(
      cheapest([
        { ...L4, pool: "b" },
        { ...L4, pool: "a" },
      ]),
    ).toEqual([{ ...L4, pool: "b" }]);
  });

  it("keep models, regions and ways of paying apart, and models without a price", () => {
    const shapes = [
      { ...L4, pool: "a", region: "eu" },
      { ...L4, pool: "a", region: "us" },
      { ...L4, pool: "a", region: "us", capacityType: "spot" as const },
      { ...T4, pool: "a" },
    ];
    expect(cheapest([...shapes, { ...T4, pool: "b" }])).toEqual(shapes);
  });

  it("cost less than the GPU, if both have a price", () => {
    const shapes = [{ model: "NVIDIA-H100-80GB-HBM3" }, { model: "NVIDIA-A100-SXM4-80GB" }, L4, T4];
    expect(cheapest(shapes)).toEqual([L4, T4]);
    expect(cheapest(shapes, gpu("an unknown model"))).toEqual(shapes);
  });

  it("are those of a GPU whose machine joined in the last hour", () => {
    const { machine, ...of } = gpu();
    const joined = WINDOW.until - 60_000;
    expect(cheapest([L4], { ...of, machine: { ...machine, appearedAt: joined, since: joined } })).toEqual([L4]);
  });
});
