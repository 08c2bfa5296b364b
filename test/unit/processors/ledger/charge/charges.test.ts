import { describe, expect, it } from "vitest";
import type { UsageHour } from "../../../../../domain/allocation/usage-hour.ts";
import type { Charge } from "../../../../../domain/charge/charge.ts";
import { formatAmount, lastUnits, sum } from "../../../../../domain/exact/units.ts";
import { DEFAULT_POLICY } from "../../../../../domain/policy/policy.ts";
import { chargeNode } from "../../../../../processors/ledger/charge/charge-node.ts";
import { breachesOf } from "../../../../../processors/ledger/charge/invariant.ts";
import { markupCharges } from "../../../../../processors/ledger/charge/markup.ts";
import { createNodePrices } from "../../../../../processors/ledger/charge/node-prices.ts";
import { spreadCharges } from "../../../../../processors/ledger/charge/spread-charges.ts";
import { readScenario } from "../../../../../scenarios/read.ts";
import { rulesOf } from "../../../../../scenarios/rules.ts";

const START = Date.UTC(2026, 2, 2);
const HALF = 1_800_000;

/** The rules of a configuration, written as a scenario without a fleet. */
function rules(text: string) {
  const head = "title: rules\nperiod: { start: 2026-03-02T00:00:00Z, end: 2026-03-02T01:00:00Z }\n";
  const { book, owners, policies, energy } = rulesOf(readScenario(head + text, "rules"));
  return { book, prices: createNodePrices(book), owners, policies, energy };
}

/** An hour of one GPU that a pod of a namespace holds and fully uses. */
function hour(given: { readonly slot?: number; readonly namespace?: string } = {}): UsageHour {
  const { slot = 0, namespace = "vision" } = given;
  return {
    cluster: "default",
    node: "gpu-a",
    slot,
    gpuKey: `GPU-${slot}`,
    segment: {
      fromMillis: START,
      untilMillis: START + 2 * HALF,
      gpu: { model: "NVIDIA-L4", layout: { kind: "whole" } },
      unavailableBecause: "",
      isCordoned: false,
      busyMillis: 0,
      energy: { millijoules: 1_440_000_000n, coveredMillis: 2 * HALF },
      claims: [
        {
          claim: { holder: "pod-1", held: { what: "whole" } },
          stage: "running",
          measured: {
            coveredMillis: 2 * HALF,
            busyMillis: 2 * HALF,
            activityPpmMillis: BigInt(2 * HALF) * 1_000_000n,
            activityAtClaimsPpmMillis: BigInt(2 * HALF) * 1_000_000n,
          },
        },
      ],
    },
    machine: { machine: "node-1", appearedAt: START, since: START, delivered: 2, labels: {} },
    holders: [
      {
        evidence: "label",
        kind: "pod",
        namespace,
        name: "v-0",
        workloadKind: "Job",
        workload: "v",
        type: "training",
        queue: "",
        priorityClass: "",
        labels: {},
        annotations: {},
        namespaceLabels: { team: namespace },
        namespaceAnnotations: {},
      },
    ],
    telemetry: [{ samples: 120, firstAt: START, lastAt: START, activityMaxPpm: 1_000_000, memoryMaxMiB: 0 }],
  };
}

const shown = (charges: readonly Charge[]): string[] =>
  charges.map(
    ({ team, state, gpuHours, costs, trail, fromMillis }) =>
      `${(fromMillis - START) / 60_000} ${team} ${state} ${formatAmount(gpuHours)} h ${costs === undefined ? "unpriced" : formatAmount(costs.effective)} ${trail.price}`,
  );

describe("the charges of a node", () => {
  it("split time that was metered before a price was known at the beginning of that price", () => {
    const { prices, owners, policies, energy } = rules(`
prices:
  - { match: {}, from: 2026-01-01, until: 2026-03-02T00:30:00Z, per: gpu-hour, effective: "2.00" }
  - { match: {}, from: 2026-03-02T00:30:00Z, per: gpu-hour, effective: "4.00" }`);
    const { charges } = chargeNode([hour()], { prices, owners, policies, energy });
    expect(shown(charges[0]!)).toEqual([
      "0 vision active 0.5 h 1 everything from 2026-01-01",
      "30 vision active 0.5 h 2 everything from 2026-03-02T00:30:00Z",
    ]);
  });

  it("split time where a rule with another owner begins, and name the rule", () => {
    const { prices, owners, policies, energy } = rules(`
owners:
  team: [{ namespace: vision, value: robots, from: 2026-03-02T00:30:00Z }, { namespaceLabel: team }]
prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "2.00" }]`);
    const { charges } = chargeNode([hour()], { prices, owners, policies, energy });
    expect(shown(charges[0]!)).toEqual([
      "0 vision active 0.5 h 1 everything from 2026-01-01",
      "30 robots active 0.5 h 1 everything from 2026-01-01",
    ]);
    expect(charges[0]!.map(({ trail }) => trail.owners.team)).toEqual([
      "namespaceLabel team",
      "namespace vision from 2026-03-02T00:30:00Z",
    ]);
  });

  it("of held time that the platform pays name the policy as the team's rule, and the holder's rules for the rest", () => {
    const { prices, owners, policies, energy } = rules(`
owners: { team: [{ podLabel: team }, { namespaceLabel: team }], project: [{ namespaceLabel: team }] }
policies: [{ name: fair, payers: { unobserved: platform } }]
prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "2.00" }]`);
    const unseen = hour();
    const [claim] = unseen.segment.claims;
    const measured = { coveredMillis: 0, busyMillis: 0, activityPpmMillis: 0n, activityAtClaimsPpmMillis: 0n };
    const segment = { ...unseen.segment, claims: [{ ...claim!, measured }] };
    const { charges } = chargeNode([{ ...unseen, segment }], { prices, owners, policies, energy });
    const [line] = charges[0]!;
    expect(line).toMatchObject({ state: "unobserved", payer: "platform", team: "platform", project: "vision" });
    expect(line!.trail.owners).toEqual({
      team: "policy fair",
      costCenter: "",
      project: "namespaceLabel team",
      environment: "",
    });
  });

  it("belong to the pool's owner if the pool has one, hour by hour", () => {
    const { prices, owners, policies, energy } = rules(`
owners: { team: [{ pool: research, value: robots }, { namespaceLabel: team }] }
prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "2.00" }]`);
    const first = hour();
    const moved: UsageHour = { ...first, machine: { ...first.machine, pool: "research" } };
    const teams = [first, moved, first].map((each) => chargeNode([each], { prices, owners, policies, energy }));
    expect(teams.map(({ charges: [lines] }) => lines!.map(({ team }) => team))).toEqual([
      ["vision"],
      ["robots"],
      ["vision"],
    ]);
  });

  it("belong to the holder's owner if the holder used more than it held", () => {
    const { prices, owners, policies, energy } = rules(`
owners:
  team: [{ namespace: vision, value: robots, from: 2026-03-02T00:30:00Z }, { namespaceLabel: team }]
prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "8.00" }]
policies: [{ name: by-max, basis: max }]`);
    const whole = hour();
    const gpuMillis = BigInt(2 * HALF);
    // It holds a quarter and uses 0.45 of the GPU: in each half hour, 0.1 h of time without a holder.
    const process = {
      atClaimPpmMillis: 250_000n * gpuMillis,
      atOccupantPpmMillis: 250_000n * gpuMillis,
      atUsagePpmMillis: 450_000n * gpuMillis,
    };
    const [claim] = whole.segment.claims;
    const quarter: UsageHour = {
      ...whole,
      segment: {
        ...whole.segment,
        gpu: { model: "NVIDIA-L4", layout: { kind: "shared", replicas: 4 } },
        claims: [
          {
            ...claim!,
            claim: { holder: "pod-1", held: { what: "replicas", count: 1 } },
            measured: { ...claim!.measured, process },
          },
        ],
      },
    };
    const { charges } = chargeNode([quarter], { prices, owners, policies, energy });
    expect(shown(charges[0]!).toSorted()).toEqual([
      "0 platform unallocated 0.275 h 2.2 everything from 2026-01-01",
      "0 vision active 0.1 h 0.8 everything from 2026-01-01",
      "0 vision active 0.125 h 1 everything from 2026-01-01",
      "30 platform unallocated 0.275 h 2.2 everything from 2026-01-01",
      "30 robots active 0.1 h 0.8 everything from 2026-01-01",
      "30 robots active 0.125 h 1 everything from 2026-01-01",
    ]);
  });

  it("split the energy and its emissions by time where the price begins", () => {
    const { prices, owners, policies, energy } = rules(`
prices:
  - { match: {}, from: 2026-01-01, until: 2026-03-02T00:15:00Z, per: gpu-hour, effective: "2.00" }
  - { match: {}, from: 2026-03-02T00:15:00Z, per: gpu-hour, effective: "4.00" }
energy: { gramsPerKWh: [{ from: 2026-01-01, grams: "300" }] }`);
    const { charges } = chargeNode([hour()], { prices, owners, policies, energy });
    // 400 W for an hour: 0.4 kWh, 120 g.
    expect(charges[0]!.map(({ millijoules, carbon }) => [millijoules, formatAmount(carbon!)])).toEqual([
      [360_000_000n, "30"],
      [1_080_000_000n, "90"],
    ]);
  });

  it("have the power of an owned machine in each of their costs", () => {
    const { prices, owners, policies, energy } = rules(`
prices:
  - match: {}
    from: 2026-01-01
    owned: { inService: 2026-03-01, purchase: "71424", months: 48, kWhPrice: "0.25", pue: "1.5" }`);
    const charged = chargeNode([hour()], { prices, owners, policies, energy });
    // 71,424 ÷ 48 = 1,488 in March's 744 hours: 2 an hour, 1 for each of two GPUs. 0.4 kWh × 1.5 × 0.25 = 0.15.
    const [line] = charged.charges[0] as [Charge];
    expect([line.power!, line.costs!.list, line.costs!.effective].map(formatAmount)).toEqual(["0.15", "1.15", "1.15"]);
    expect(breachesOf("default", "gpu-a", charged, charged.charges[0]!)).toEqual([]);
  });

  it("have no cost if there is no price, but have their quantity", () => {
    const { prices, owners, policies, energy } = rules("");
    const { charges } = chargeNode([hour()], { prices, owners, policies, energy });
    expect(shown(charges[0]!)).toEqual(["0 vision active 1 h unpriced "]);
  });

  it("name a team that is not in the register and therefore did not count", () => {
    const { prices, owners, policies, energy } = rules("register: [nlp]");
    const { charges, refused } = chargeNode([hour()], { prices, owners, policies, energy });
    expect(shown(charges[0]!)).toEqual(["0 unowned active 1 h unpriced "]);
    expect(refused).toEqual([{ team: "vision", namespace: "vision", workload: "v" }]);
  });
});

describe("a markup", () => {
  it("adds a line to the team, on the amount that the team pays, and the opposite line to the platform", () => {
    const { book, prices, owners, policies, energy } = rules(`
prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "2.00" }]
markup: [{ team: vision, percent: "5" }, { team: nobody, percent: "50" }]`);
    const { charges } = chargeNode([hour(), hour({ slot: 1, namespace: "nlp" })], { prices, owners, policies, energy });
    const lines = markupCharges(charges[0]!, book.markup);
    expect(shown(lines)).toEqual(["0 vision markup 0 h 0.1 markup[0]", "0 platform markup 0 h -0.1 markup[0]"]);
    expect(sum(lines.map(({ costs }) => costs!.effective))).toBe(0n);
  });
});

describe("the invariant", () => {
  const { prices, owners, energy } = rules(
    `prices: [{ match: {}, from: 2026-01-01, per: node-hour, effective: "3.00", gpuPart: "0.9" }]
energy: { gramsPerKWh: [{ from: 2026-01-01, grams: "380" }] }`,
  );
  const charged = chargeNode([hour(), hour({ slot: 1 })], { prices, owners, policies: [DEFAULT_POLICY], energy });
  const [charges] = charged.charges as [readonly Charge[]];

  it("holds for new charges and for spread charges", () => {
    expect(breachesOf("default", "gpu-a", charged, charges)).toEqual([]);
    const spread = spreadCharges(charges, DEFAULT_POLICY.spread).charges;
    expect(breachesOf("default", "gpu-a", charged, spread)).toEqual([]);
  });

  it("is broken by a single last unit, and the breach has a name", () => {
    const [first, ...others] = charges as [Charge, ...Charge[]];
    const effective = lastUnits<"currency">(first.costs!.effective + 1n);
    const wrong = [{ ...first, costs: { ...first.costs!, effective } }, ...others];
    expect(breachesOf("default", "gpu-a", charged, wrong)).toEqual([
      { policy: "default", node: "gpu-a", slot: "0", what: "effective", expected: "1.35", found: "1.350000001" },
    ]);
  });

  it("is broken by a millijoule and by the last unit of a gram, and the breach has a name", () => {
    const [first, ...others] = charges as [Charge, ...Charge[]];
    const carbon = lastUnits<"gram">(first.carbon! - 1n);
    const wrong = [{ ...first, millijoules: first.millijoules! + 1n, carbon }, ...others];
    expect(breachesOf("default", "gpu-a", charged, wrong)).toMatchObject([
      { slot: "0", what: "energy", expected: "1440000000", found: "1440000001" },
      { slot: "0", what: "carbon", expected: "152", found: "151.999999999" },
    ]);
  });

  it("is broken by a missing line", () => {
    const rest = charges.filter(({ state }) => state !== "non-gpu");
    expect(breachesOf("default", "gpu-a", charged, rest).map(({ slot, what }) => `${slot} ${what}`)).toEqual([
      " list",
      " contracted",
      " effective",
    ]);
  });
});
