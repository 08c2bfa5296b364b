import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_MACHINE, NO_OWNERS, type Charge } from "../../../../../domain/charge/charge.ts";
import { add, rational, ZERO } from "../../../../../domain/exact/rational.ts";
import { lastUnits } from "../../../../../domain/exact/units.ts";
import { correctionBreaches, correctionsOf } from "../../../../../processors/ledger/charge/corrections.ts";

const HOUR = Date.UTC(2026, 2, 1, 10);

function charge(given: Partial<Charge> & { readonly cost?: number | undefined; readonly hours?: number }): Charge {
  const { cost, hours = 1, ...rest } = given;
  const money = lastUnits<"currency">(BigInt(cost ?? 0));
  return {
    fromMillis: HOUR,
    untilMillis: HOUR + 3_600_000,
    cluster: "prod",
    node: "gpu-a",
    slot: 0,
    ...NO_MACHINE,
    gpuModel: "A100",
    layout: "whole",
    state: "active",
    because: "",
    payer: "holder",
    team: "vision",
    costCenter: "",
    project: "",
    environment: "",
    holder: undefined,
    shareMillis: rational(hours),
    gpuHours: lastUnits<"gpu-hour">(BigInt(hours)),
    costs: "cost" in given && cost === undefined ? undefined : { list: money, contracted: money, effective: money },
    trail: { price: "prices[0]", pricedSince: 0, owners: NO_OWNERS },
    ...rest,
  };
}

const words = (charges: readonly Charge[]): readonly string[] =>
  charges.map(({ team, gpuHours, costs }) => `${team} ${gpuHours} ${costs?.effective ?? "unpriced"}`);

describe("a correction", () => {
  it("is the right line minus the booked line; an absent side counts as 0", () => {
    const booked = [charge({ cost: 30, hours: 10 }), charge({ team: "platform", cost: 7 })];
    const recomputed = [charge({ cost: 20, hours: 8 }), charge({ team: "nlp", cost: 17, hours: 3 })];
    expect(words(correctionsOf(recomputed, booked))).toEqual(["vision -2 -10", "nlp 3 17", "platform -1 -7"]);
  });

  it("does not exist if the lines are the same, for any cuts of their time and any names of prices", () => {
    const trail = { price: "prices[4]", pricedSince: 5, owners: NO_OWNERS };
    const parts = [
      charge({ cost: 10, hours: 4, untilMillis: HOUR + 600_000 }),
      charge({ cost: 20, hours: 6, fromMillis: HOUR + 600_000, trail }),
    ];
    expect(correctionsOf(parts, [charge({ cost: 30, hours: 10 })])).toEqual([]);
  });

  it("covers the whole UTC hour, with its own dimensions and with the trail of the right line", () => {
    const trail = { price: "prices[4]", pricedSince: 5, owners: NO_OWNERS };
    const [correction] = correctionsOf([charge({ cost: 9, fromMillis: HOUR + 60_000, trail })], [charge({ cost: 4 })]);
    expect(correction).toMatchObject({
      fromMillis: HOUR,
      untilMillis: HOUR + 3_600_000,
      trail,
      node: "gpu-a",
      slot: 0,
    });
  });

  it("does not exist for a dimension that a former release did not book", () => {
    const former = [charge({ cost: 30, hours: 10, layout: "" }), charge({ team: "nlp", cost: 5, layout: "" })];
    const recomputed = [
      charge({ cost: 30, hours: 10, layout: "mig" }),
      charge({ team: "nlp", cost: 6, layout: "whole" }),
    ];
    const corrections = correctionsOf(recomputed, former);
    expect(words(corrections)).toEqual(["nlp 0 1"]);
    expect(corrections.map(({ layout }) => layout)).toEqual([""]);
    expect(
      words(correctionsOf(recomputed, [...former, charge({ team: "hpc", cost: 1, layout: "whole" })])),
    ).toHaveLength(5);
  });

  it("moves a quantity out of the unpriced ones when it gets a price", () => {
    const recomputed = [charge({ cost: 30, hours: 10 })];
    expect(words(correctionsOf(recomputed, [charge({ cost: undefined, hours: 10 })]))).toEqual([
      "vision 10 30",
      "vision -10 unpriced",
    ]);
  });

  it("separates the labels of holders, in any order of the labels", () => {
    const held = (labels: Readonly<Record<string, string>>): Charge =>
      charge({
        cost: 3,
        holder: {
          id: "u",
          namespace: "n",
          pod: "p",
          workloadKind: "Pod",
          workload: "p",
          type: "other",
          queue: "",
          priorityClass: "",
          labels,
          attribution: "label",
          rawShare: "1",
          share: "1",
        },
      });
    expect(correctionsOf([held({ a: "1", b: "2" })], [held({ b: "2", a: "1" })])).toEqual([]);
    expect(correctionsOf([held({ a: "1" })], [held({ a: "2" })])).toHaveLength(2);
  });

  const line = fc
    .record({
      team: fc.constantFrom("vision", "nlp", "platform"),
      slot: fc.constantFrom(0, 1, undefined),
      state: fc.constantFrom("active", "idle", "unallocated"),
      hours: fc.integer({ min: 0, max: 50 }),
      cost: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 0, max: 1000 }) }, fc.constant(undefined)),
      minute: fc.integer({ min: 0, max: 59 }),
    })
    .map(({ minute, ...given }) =>
      charge({ ...given, fromMillis: HOUR + minute * 60_000 } as Parameters<typeof charge>[0]),
    );

  it("added to the originals gives the recomputed lines, over any number of recomputations and closes", () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.array(fc.record({ lines: fc.array(line, { maxLength: 12 }), closes: fc.boolean() }), { maxLength: 6 }),
        (original, rounds) => {
          let booked: readonly Charge[] = original;
          for (const { lines, closes } of rounds) {
            const corrections = correctionsOf(lines, booked);
            const all = [...booked, ...corrections];
            expect(correctionBreaches("default", lines, all)).toEqual([]);
            expect(byLine(all)).toEqual(byLine(lines));
            // Computed again without changes: the same corrections, and no others.
            expect(correctionsOf(lines, booked)).toEqual(corrections);
            expect(correctionsOf(lines, all)).toEqual([]);
            // The next recomputation replaces corrections of an open period; a close keeps them.
            if (closes) booked = all;
          }
        },
      ),
    );
  });

  it("that does not equal a difference is a breach that names the GPU", () => {
    expect(correctionBreaches("default", [charge({ cost: 5, slot: 3 })], [charge({ cost: 4, slot: 3 })])).toEqual(
      ["list", "contracted", "effective"].map((what) => ({
        policy: "default",
        node: "gpu-a",
        slot: "3",
        what,
        expected: "0.000000005",
        found: "0.000000004",
      })),
    );
  });
});

/** Sums by the dimensions that distinguish lines here; sums of 0 are left out. */
function byLine(charges: readonly Charge[]): ReadonlyMap<string, string> {
  const sums = new Map<string, { hours: bigint; cost: bigint; share: ReturnType<typeof rational> }>();
  for (const { team, slot, state, gpuHours, costs, shareMillis } of charges) {
    const key = JSON.stringify([team, slot, state, costs === undefined]);
    const known = sums.get(key) ?? { hours: 0n, cost: 0n, share: ZERO };
    sums.set(key, {
      hours: known.hours + gpuHours,
      cost: known.cost + (costs?.effective ?? 0n),
      share: add(known.share, shareMillis),
    });
  }
  const words = [...sums].map(([key, { hours, cost, share }]) => [key, `${hours} ${cost} ${share.num}`] as const);
  return new Map(words.filter(([, text]) => text !== "0 0 0").toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
