import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { multiply, rational } from "../../../domain/exact/rational.ts";
import { formatAmount, roundToLastUnit, sum, type Money } from "../../../domain/exact/units.ts";
import type { Bill } from "../../../scenarios/bill.ts";
import type { Scenario } from "../../../scenarios/files.ts";
import { billScenario } from "../../support/reference/bill.ts";
import { randomScenario } from "../../support/reference/random-scenario.ts";
import { rounds } from "../../support/rounds.ts";
import { HOUR_MILLIS as HOUR } from "../../../domain/time.ts";

const RUNS = rounds(100);

/** The cost of the fleet by its price book alone, independent of holders: each price's hours, rounded once. */
function fleetCost({ nodes, prices, period }: Scenario): Money {
  const [first, second, small] = prices as readonly { readonly effective: string; readonly from: string }[];
  const change = Date.parse(second!.from);
  const cost = ({ effective }: { readonly effective: string }, from: number, until: number): Money =>
    roundToLastUnit(multiply(rational(BigInt(effective.replace(".", "")), 10_000n), rational(until - from, HOUR)));
  return sum(
    nodes.flatMap(({ pool, gpus }) => {
      if (pool === "small") return cost(small!, period.start, period.end);
      const each = [cost(first!, period.start, change), cost(second!, change, period.end)];
      return Array.from({ length: gpus }, () => each).flat();
    }),
  );
}

const byState = (bill: Bill): string =>
  JSON.stringify(
    bill.lines
      .map(({ dimensions: { node, gpu, pod, state, team }, gpuHours, cost }) =>
        [node, gpu, pod, state, team, formatAmount(gpuHours), cost === undefined ? "" : formatAmount(cost)].join(" "),
      )
      .toSorted(),
  );

/** The GPU-hours of each GPU that pods hold, and those without a holder. */
function heldHours(bill: Bill): ReadonlyMap<string, bigint> {
  const hours = new Map<string, bigint>();
  for (const { dimensions, gpuHours } of bill.lines) {
    const key = `${dimensions["node"]}/${dimensions["gpu"]}/${dimensions["pod"]}`;
    hours.set(key, (hours.get(key) ?? 0n) + gpuHours);
  }
  return hours;
}

describe("for any fleet", () => {
  it("the charges sum to the cost, and the hours to the capacity, under every policy, to the last unit", () => {
    fc.assert(
      fc.property(randomScenario.map(withoutOwned), (scenario) => {
        const cost = fleetCost(scenario);
        for (const [name, { total, lines }] of billScenario(scenario)) {
          expect({ name, total }).toEqual({ name, total: cost });
          const hours = lines.filter(({ dimensions }) => dimensions["state"] !== "non-gpu");
          expect(`${name} ${formatAmount(sum(hours.map(({ gpuHours }) => gpuHours)))}`).toBe(`${name} 10`);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("every policy has exactly the same total", () => {
    fc.assert(
      fc.property(randomScenario, (scenario) => {
        const totals = new Set([...billScenario(scenario).values()].map(({ total }) => total));
        expect(totals.size).toBe(1);
      }),
      { numRuns: RUNS },
    );
  });

  it("the order of the pods in the text changes nothing", () => {
    fc.assert(
      fc.property(randomScenario, (scenario) => {
        const other = { ...scenario, pods: scenario.pods.toReversed(), nodes: scenario.nodes.toReversed() };
        const [one, two] = [billScenario(scenario), billScenario(other)];
        for (const [name, bill] of one)
          expect({ name, lines: byState(two.get(name)!) }).toEqual({ name, lines: byState(bill) });
      }),
      { numRuns: RUNS },
    );
  });

  it("more frequent scrapes change the known activity, but not the holders", () => {
    fc.assert(
      fc.property(randomScenario.map(withoutSamplesWord), (scenario) => {
        const [coarse, fine] = [60_000, 20_000].map((scrapeInterval) =>
          heldHours(billScenario({ ...scenario, scrapeInterval }).get("default")!),
        );
        expect([...fine!.keys()].toSorted()).toEqual([...coarse!.keys()].toSorted());
        // A share is split over its states by whole units: other states have other roundings.
        for (const [key, hours] of coarse!) expect(Math.abs(Number(fine!.get(key)! - hours))).toBeLessThan(12);
      }),
      { numRuns: RUNS },
    );
  });
});

/** The same scenario without owned machines: their cost depends on the measured power. */
function withoutOwned(scenario: Scenario): Scenario {
  return { ...scenario, nodes: scenario.nodes.map((node) => (node.pool === "own" ? { ...node, pool: "big" } : node)) };
}

/** The same scenario with holders that do not depend on samples: schedulers report the devices, and there is no XID. */
function withoutSamplesWord(scenario: Scenario): Scenario {
  return {
    ...scenario,
    nodes: scenario.nodes.map((node) => ({
      ...node,
      unavailable: node.unavailable.filter(({ because }) => !because.startsWith("xid-")),
    })),
    pods: scenario.pods.map((pod) => ({ ...pod, evidence: "annotation" as const })),
  };
}
