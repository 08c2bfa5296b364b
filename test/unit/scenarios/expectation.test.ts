import { describe, expect, it } from "vitest";
import { lastUnits, type GpuHours, type Money } from "../../../domain/exact/units.ts";
import type { Bill, BillLine } from "../../../scenarios/bill.ts";
import { differences } from "../../../scenarios/expectation.ts";
import { scenarioWith } from "../../support/played.ts";

const ONE = 1_000_000_000n;

function line(team: string, state: string, hours: bigint, cost: bigint | undefined): BillLine {
  return {
    dimensions: { team, state },
    gpuHours: lastUnits(hours) as GpuHours,
    cost: cost === undefined ? undefined : (lastUnits(cost) as Money),
  };
}

const BILL: Bill = {
  lines: [
    line("vision", "active", ONE, 2n * ONE),
    line("vision", "idle", ONE / 2n, ONE),
    line("nlp", "active", ONE, undefined),
  ],
  total: lastUnits(3n * ONE) as Money,
  corrections: [line("vision", "active", 0n, -ONE)],
};

/** The differences from an expectation of the one policy. */
function differing(expected: object, bill = BILL): readonly string[] {
  return differences(scenarioWith({ expect: { default: expected } }), new Map([["default", bill]]));
}

/** 0.36 and 0.036 kWh. */
const POWERED: Bill = {
  lines: [
    { ...line("vision", "active", ONE, ONE), millijoules: 1_296_000_000n, carbon: lastUnits(180n * ONE) },
    { ...line("vision", "idle", ONE, ONE), millijoules: 129_600_000n, carbon: lastUnits(18n * ONE) },
    line("nlp", "active", ONE, ONE),
  ],
  total: lastUnits(3n * ONE),
};

describe("an expectation of energy", () => {
  const differingEnergy = (energy: readonly object[]): readonly string[] =>
    differences(
      scenarioWith({ energy: { pue: "1.25" }, expect: { default: { energy } } }),
      new Map([["default", POWERED]]),
    );

  it("counts kWh with the site's overhead, for every group with a measurement", () => {
    expect(differingEnergy([{ team: "vision", kWh: "0.495", grams: "198" }])).toEqual([]);
    expect(
      differingEnergy([
        { state: "active", kWh: "0.46" },
        { state: "waiting", grams: "1" },
      ]),
    ).toEqual([
      'default, energy: ["active"] used 0.45 kWh, not 0.46',
      'default, energy: ["waiting"] emitted 0 g, not 1',
      'default, energy: ["idle"] is not expected: 0.045 kWh, 18 g',
    ]);
  });
});

describe("an expectation", () => {
  it("holds if every line is one group of the named dimensions and every group a line, by value", () => {
    const lines = [
      { team: "vision", gpuHours: "1.50", cost: "3.00" },
      { team: "nlp", gpuHours: "1", cost: "0" },
    ];
    expect(differing({ total: "3.000", lines, corrections: [{ state: "active", cost: "-1" }] })).toEqual([]);
    expect(differing({})).toEqual([]);
  });

  it("gives the actual total, quantity or cost, to the last unit", () => {
    const lines = [
      { team: "vision", gpuHours: "1.500000001", cost: "2.999999999" },
      { team: "nlp", cost: "0.0000000001" },
    ];
    expect(differing({ total: "2.9", lines })).toEqual([
      "default: the total is 3, not 2.9",
      'default: ["vision"] has 1.5 GPU-hours, not 1.500000001',
      'default: ["vision"] costs 3, not 2.999999999',
      'default: ["nlp"] costs 0, not 0.0000000001',
    ]);
  });

  it("names groups that no line expects, and lines that are not a group", () => {
    const lines = [
      { team: "vision", state: "active", cost: "2" },
      { team: "vision", cost: "1" },
      { team: "speech", state: "idle" },
      { team: "speech", state: "active", cost: "0" },
    ];
    expect(differing({ lines })).toEqual([
      'default: ["vision",""] costs 0, not 1',
      'default: ["speech","idle"] is expected, and there is no such line',
      'default: ["speech","active"] is expected, and there is no such line',
      'default: ["nlp","active"] is not expected: 1 GPU-hours, 0',
      'default: ["vision","idle"] is not expected: 0.5 GPU-hours, 1',
    ]);
  });

  it("matches a group once: a repeated line does not match it again", () => {
    const twice = { team: "nlp", gpuHours: "1" };
    const lines = [twice, twice, { team: "vision" }];
    expect(differing({ lines })).toEqual(['default: ["nlp"] has 0 GPU-hours, not 1']);
  });

  it("can also be about corrections, and about a policy without a bill", () => {
    expect(differing({ corrections: [] })).toEqual(["default, corrections: [] is not expected: 0 GPU-hours, -1"]);
    expect(differences(scenarioWith({ expect: { default: {} } }), new Map())).toEqual([
      "default: there is no such bill",
    ]);
  });
});
