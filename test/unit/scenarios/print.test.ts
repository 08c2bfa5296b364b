import { describe, expect, it } from "vitest";
import { parseAmount, sum, type Carbon, type GpuHours, type Money } from "../../../domain/exact/units.ts";
import { groupLines, unpricedGpuHoursOf, type Bill, type BillLine } from "../../../scenarios/bill.ts";
import { printBills, type PrintOptions } from "../../../scenarios/print.ts";

function hours(text: string): GpuHours {
  return (parseAmount<"gpu-hour">(text) as { value: GpuHours }).value;
}

function money(text: string): Money {
  return (parseAmount<"currency">(text) as { value: Money }).value;
}

function grams(text: string): Carbon {
  return (parseAmount<"gram">(text) as { value: Carbon }).value;
}

function line(dimensions: Readonly<Record<string, string>>, gpuHours: string, cost?: string): BillLine {
  return { dimensions, gpuHours: hours(gpuHours), cost: cost === undefined ? undefined : money(cost) };
}

function billOf(...lines: BillLine[]): Bill {
  return { lines, total: sum(lines.flatMap(({ cost }) => cost ?? [])) };
}

const BILL = billOf(
  line({ team: "vision", state: "idle", gpu: "10" }, "0.5", "1.25"),
  line({ team: "vision", state: "active", gpu: "2" }, "1.5", "3.75"),
  line({ team: "vision", state: "active", gpu: "10" }, "0.333333333", "0.833333333"),
  line({ team: "nlp", state: "active", gpu: "3" }, "2"),
  line({ team: "platform", state: "unallocated" }, "0.25", "0.5"),
);

function printed(bills: Readonly<Record<string, Bill>>, options: Partial<PrintOptions>): string {
  return printBills(new Map(Object.entries(bills)), {
    currency: "USD",
    by: ["team", "state"],
    format: "json",
    ...options,
  });
}

describe("a bill's groups", () => {
  it("add up equal lines exactly, with numbers in their order and missing values as empty", () => {
    const groups = groupLines(BILL.lines, ["gpu"]);
    expect(groups.map(({ dimensions, gpuHours, cost }) => [dimensions["gpu"], gpuHours, cost])).toEqual([
      ["", hours("0.25"), money("0.5")],
      ["2", hours("1.5"), money("3.75")],
      ["3", hours("2"), undefined],
      ["10", hours("0.833333333"), money("2.083333333")],
    ]);
  });

  it("have no cost if none of their lines has a price, and the cost of the others if some have", () => {
    const some = [...BILL.lines, line({ team: "nlp", state: "active" }, "1", "0.5")];
    expect(groupLines(some, ["team"]).map(({ cost }) => cost)).toEqual([
      money("0.5"),
      money("0.5"),
      money("5.833333333"),
    ]);
    expect(unpricedGpuHoursOf(some)).toBe(hours("2"));
  });
});

describe("bills as JSON", () => {
  it("have each policy's total, hours, unpriced hours and lines as decimal texts", () => {
    expect(JSON.parse(printed({ default: BILL, other: billOf() }, {}))).toEqual({
      currency: "USD",
      policies: {
        default: {
          total: "6.333333333",
          gpuHours: "4.583333333",
          unpricedGpuHours: "2",
          lines: [
            { team: "nlp", state: "active", gpuHours: "2", cost: null },
            { team: "platform", state: "unallocated", gpuHours: "0.25", cost: "0.5" },
            { team: "vision", state: "active", gpuHours: "1.833333333", cost: "4.583333333" },
            { team: "vision", state: "idle", gpuHours: "0.5", cost: "1.25" },
          ],
        },
        other: { total: "0", gpuHours: "0", unpricedGpuHours: "0", lines: [] },
      },
    });
  });
});

describe("bills as a table", () => {
  it("have a header with the sums, and numbers with aligned decimal points", () => {
    expect(
      printed({ default: BILL, other: billOf(line({ team: "nlp", state: "idle" }, "1", "2")) }, { format: "table" }),
    ).toBe(
      [
        "default: 6.333333333 USD, 4.583333333 GPU-hours, 2 of them without a price",
        "team      state          GPU-hours          USD",
        "nlp       active       2               unpriced",
        "platform  unallocated  0.25         0.50",
        "vision    active       1.833333333  4.583333333",
        "vision    idle         0.5          1.25",
        "",
        "other: 2.00 USD, 1 GPU-hours",
        "team  state  GPU-hours   USD",
        "nlp   idle           1  2.00",
        "",
      ].join("\n"),
    );
  });

  it("show a name without characters that move the cursor or end a line, and a dash for an empty name", () => {
    const bill = billOf(line({ team: "red\u001B[31m\nteam\u202E", state: "" }, "1", "1"));
    expect(printed({ default: bill }, { format: "table" })).toContain("red?[31m?team?  –");
  });
});

describe("bills with energy", () => {
  // 1 J and 0.36 kWh at the GPU, with half as much overhead: 0.000000416… and 0.54.
  const powered = {
    default: billOf(
      { ...line({ team: "nlp", state: "idle" }, "1", "2"), millijoules: 1000n },
      { ...line({ team: "vision", state: "active" }, "1", "2"), millijoules: 1_296_000_000n, carbon: grams("205.2") },
      line({ team: "vision", state: "unobserved" }, "1", "2"),
    ),
  };
  const energy = { pue: "1.5", gramsPerKWh: [] };

  it("have kWh, and grams if they are known", () => {
    expect(JSON.parse(printed(powered, { energy }))).toMatchObject({
      policies: {
        default: {
          lines: [
            { state: "idle", kWh: "0.000000417", grams: null },
            { state: "active", kWh: "0.54", grams: "205.2" },
            { state: "unobserved", kWh: null, grams: null },
          ],
        },
      },
    });
    expect(printed(powered, { energy, format: "csv" }).split("\r\n")).toEqual([
      "policy,team,state,gpuHours,cost,currency,kWh,grams",
      "default,nlp,idle,1,2,USD,0.000000417,",
      "default,vision,active,1,2,USD,0.54,205.2",
      "default,vision,unobserved,1,2,USD,,",
      "default,total,,3,6,USD,0.540000417,205.2",
      "",
    ]);
    expect(printed(powered, { energy, format: "table" })).toBe(
      [
        "default: 6.00 USD, 3 GPU-hours",
        "team    state       GPU-hours          kWh  g CO₂e   USD",
        "nlp     idle                1  0.000000417       –  2.00",
        "vision  active              1  0.54          205.2  2.00",
        "vision  unobserved          1            –       –  2.00",
        "",
      ].join("\n"),
    );
  });
});

describe("bills as CSV", () => {
  it("are one table, with a total after the lines of each policy", () => {
    expect(printed({ default: BILL, other: billOf() }, { format: "csv" }).split("\r\n")).toEqual([
      "policy,team,state,gpuHours,cost,currency",
      "default,nlp,active,2,,USD",
      "default,platform,unallocated,0.25,0.5,USD",
      "default,vision,active,1.833333333,4.583333333,USD",
      "default,vision,idle,0.5,1.25,USD",
      "default,total,,4.583333333,6.333333333,USD",
      "other,total,,0,0,USD",
      "",
    ]);
  });

  it("keep negative amounts as numbers", () => {
    const bill = billOf(line({ team: "-x", state: "markup" }, "0", "-5.4"));
    expect(printed({ default: bill }, { format: "csv" })).toContain("default,'-x,markup,0,-5.4,USD");
  });
});
