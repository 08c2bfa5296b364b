import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareRanks, rankEntries, rankOf } from "../../../../domain/price/rank.ts";
import { entryOf } from "./book-of.ts";
import { rounds } from "../../../support/rounds.ts";

const owned = { inService: "2025-01-01", purchase: "1", months: 12, machines: ["gpu-a"] };

/** Any match over all kinds of keys. */
const anyMatch = fc.record(
  {
    cluster: fc.constantFrom("prod", "test"),
    region: fc.constantFrom("eu", "us"),
    zone: fc.constantFrom("a", "b"),
    instanceType: fc.constantFrom("p4d", "p5"),
    pool: fc.constantFrom("dgx", "hgx"),
    model: fc.constantFrom("NVIDIA-A100", "NVIDIA-H100", "NVIDIA-*", "*A100", "*"),
    capacityType: fc.constantFrom("spot", "owned"),
    nodeLabel: fc.constantFrom({ rack: "r7" }, { rack: "r8", row: "b" }),
  },
  { requiredKeys: [] },
);
const anyEntry = fc
  .tuple(anyMatch, fc.constantFrom("2026-01-01", "2026-02-01"))
  .map(([match, from]) => entryOf(match, { from }));

describe("the winner of two matching entries is", () => {
  it.each<[string, unknown, unknown]>([
    ["the one with more keys", { region: "eu", cluster: "prod" }, { nodeLabel: { rack: "r7" } }],
    ["of a node label and an instance type, the label", { nodeLabel: { rack: "r7" } }, { instanceType: "p4d" }],
    ["of an instance type and an exact model, the type", { instanceType: "p4d" }, { model: "NVIDIA-A100" }],
    ["of an exact model and a glob, the exact one", { model: "A" }, { model: "NVIDIA-A100-SXM4-40G*" }],
    ["of two globs, the one with the longer literal part", { model: "*A100*" }, { model: "NV*" }],
    ["of a glob without literal characters and a pool, the glob", { model: "*" }, { pool: "dgx" }],
    ["of a pool and a capacity type, the pool", { pool: "dgx" }, { capacityType: "spot" }],
    ["of a capacity type and a zone, the type", { capacityType: "spot" }, { zone: "a" }],
    ["of a zone and a region, the zone", { zone: "a" }, { region: "eu" }],
    ["of a region and a cluster, the region", { region: "eu" }, { cluster: "prod" }],
    ["of a cluster and nothing, the cluster", { cluster: "prod" }, {}],
    [
      "of the same number of keys, the one with the first kind that the other lacks",
      { instanceType: "p4d", cluster: "prod" },
      { model: "A", pool: "dgx" },
    ],
    [
      "of the same kinds, the longer glob also beside a lesser key",
      { model: "NVIDIA-*", cluster: "prod" },
      { model: "NV*", cluster: "prod" },
    ],
    [
      "of two labels and a label with a type, the two",
      { nodeLabel: { a: "1", b: "2" } },
      { nodeLabel: { a: "1" }, instanceType: "p4d" },
    ],
  ])("%s", (_, winner, loser) => {
    const [better, worse] = [entryOf(winner, { from: "2026-01-01" }), entryOf(loser, { from: "2026-06-01" })];
    expect(compareRanks(rankOf(better), rankOf(worse))).toBe(1);
    expect(compareRanks(rankOf(worse), rankOf(better))).toBe(-1);
    expect(rankEntries([worse, better])[0]?.entry).toBe(better);
  });

  it("the one with the latest beginning, if the keys are the same", () => {
    const [older, newer] = [
      entryOf({ pool: "a" }, { from: "2026-01-01" }),
      entryOf({ pool: "a" }, { from: "2026-01-02" }),
    ];
    expect(compareRanks(rankOf(newer), rankOf(older))).toBe(1);
  });

  it("the one with a machine's name, against one with a node label", () => {
    expect(compareRanks(rankOf(entryOf(undefined, { owned })), rankOf(entryOf({ nodeLabel: { a: "1" } })))).toBe(1);
  });

  it("none, if kinds of keys, lengths of globs and beginnings are the same", () => {
    const [one, other] = [entryOf({ model: "*A100" }), entryOf({ model: "NV*DI" })];
    expect(compareRanks(rankOf(one), rankOf(other))).toBe(0);
  });
});

describe("precedence", () => {
  it("is a total order except for real ties: it is antisymmetric and transitive", () => {
    fc.assert(
      fc.property(anyEntry, anyEntry, anyEntry, (x, y, z) => {
        const [a, b, c] = [rankOf(x), rankOf(y), rankOf(z)];
        expect(compareRanks(a, b) + compareRanks(b, a)).toBe(0);
        const [ab, bc, ac] = [compareRanks(a, b), compareRanks(b, c), compareRanks(a, c)];
        expect(ab >= 0 && bc >= 0 ? ac >= 0 : true).toBe(true);
        expect(ab === 0 && bc === 0 ? ac === 0 : true).toBe(true);
      }),
      { numRuns: rounds(500) },
    );
  });

  it("ties only entries with the same kinds of keys, literal lengths and beginnings", () => {
    const kinds = (entry: ReturnType<typeof entryOf>): unknown => {
      const { nodeLabels, model, ...others } = entry.match;
      const literal = model?.includes("*") === true ? model.replaceAll("*", "").length : model !== undefined;
      return [Object.keys(others).toSorted(), Object.keys(nodeLabels).length, literal, entry.fromMillis];
    };
    fc.assert(
      fc.property(anyEntry, anyEntry, (a, b) => {
        const isSame = JSON.stringify(kinds(a)) === JSON.stringify(kinds(b));
        expect(compareRanks(rankOf(a), rankOf(b)) === 0).toBe(isSame);
      }),
      { numRuns: rounds(500) },
    );
  });
});
