import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { add, parseDecimal, roundedDecimal, ZERO, type Rational } from "../../domain/exact/rational.ts";
import { readPeriod } from "../../domain/period.ts";
import { HOUR_MILLIS, isoText } from "../../domain/time.ts";
import { ledgerRules } from "../../processors/ledger/charging/rules.ts";
import { createAssigner } from "../../processors/ledger/invoiced/assign.ts";
import { storeExport } from "../../processors/ledger/invoiced/store-export.ts";
import { settle } from "../../processors/ledger/term/settle.ts";
import { reconcile } from "../../reports/reconcile/reconcile.ts";
import { statementsOf } from "../../reports/reconcile/statement.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { linesOf, SCENARIO_SOURCE } from "../../scenarios/invoices.ts";
import { clustersOf } from "../../scenarios/play/tenure.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { createTestDatabase } from "../support/database.ts";
import { storeScenario } from "../support/play.ts";
import { rounds } from "../support/rounds.ts";

const SEED = Number(process.env["FLEETS_SEED"] ?? 20_260_301);
const HOURS = 4;
const MACHINES = ["i-0a", "i-0b", "i-0c"];
/** Beside machines of nodes, one that joins no cluster. */
const ON_BILL = [...MACHINES, "i-forgotten"];

const cents = fc.integer({ min: -2_000_000, max: 9_000_000 }).map((amount) => (amount / 10_000).toFixed(6));
const quarters = fc.integer({ min: 0, max: 4 * HOURS - 1 });

const nodes = fc
  .array(
    fc.record({
      machine: fc.constantFrom(...MACHINES),
      cluster: fc.constantFrom("prod", "lab"),
      from: quarters,
      length: fc.integer({ min: 1, max: 4 * HOURS }),
      gpus: fc.integer({ min: 1, max: 3 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((all) => all.map((node, index) => ({ ...node, name: `gpu-${index}` })));

const line = fc
  .record({
    kind: fc.constantFrom(
      "machine",
      "machine",
      "machine",
      "tax",
      "credit",
      "unused-commitment",
      "purchase",
      "reservation",
      "disk",
    ),
    machine: fc.constantFrom(...ON_BILL),
    from: fc.integer({ min: 0, max: HOURS - 1 }),
    length: fc.constantFrom(1, 1, 1, 2, HOURS),
    hours: fc.option(fc.integer({ min: 1, max: 16 }), { nil: undefined }),
    effective: cents,
    billed: cents,
    reservation: fc.constantFrom("", "", "cr-1"),
    account: fc.constantFrom("111", "222"),
  })
  .map(({ kind, ...rest }) => {
    const isOfMachine = kind === "machine" || kind === "disk";
    return {
      ...rest,
      kind,
      machine: isOfMachine ? rest.machine : "",
      reservation: kind === "reservation" ? "cr-1" : rest.reservation,
    };
  });

const bill = fc.record({
  share: fc.constantFrom("instance", "pool"),
  lines: fc.array(line, { minLength: 1, maxLength: 25 }),
});

let store: StoreClient;
beforeAll(async () => {
  store = await createTestDatabase("random_invoices");
});
afterAll(() => store.close());

it("both statements hold for random bills and fleets, and the charges are what the exports assign", async () => {
  let month = 0;
  await fc.assert(
    fc.asyncProperty(nodes, bill, async (fleet, { share, lines }) => {
      month += 1;
      const name = `${2020 + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}`;
      const start = Date.parse(`${name}-02T00:00:00Z`);
      const at = (quarter: number): string => isoText(start + (quarter * HOUR_MILLIS) / 4);
      const scenario = readScenario(
        JSON.stringify({
          title: name,
          period: { start: at(0), end: at(4 * HOURS) },
          nodes: fleet.map(({ machine, cluster, from, length, gpus, name: node }) => ({
            name: `${node}-${name}`,
            cluster: `${cluster}-${name}`,
            providerId: `aws:///zone/${machine}-${name}`,
            model: "NVIDIA-L4",
            gpus,
            from: at(from),
            until: at(Math.min(4 * HOURS, from + length)),
          })),
          prices: [{ match: {}, from: "2019-01-01", per: "gpu-hour", effective: "3.00" }],
          invoices: {
            share,
            lines: lines.map(({ machine, reservation, from, length, hours, ...rest }) => ({
              ...rest,
              ...(machine === "" ? {} : { machine: `${machine}-${name}` }),
              ...(reservation === "" ? {} : { reservation: `${reservation}-${name}` }),
              from: at(4 * from),
              until: at(4 * Math.min(HOURS, from + length)),
              ...(hours === undefined ? {} : { hours: String(hours / 4) }),
            })),
          },
        }),
        "random.yaml",
      );
      await storeScenario(store, scenario);
      const version = { source: SCENARIO_SOURCE, name, content: name, readBy: "test", readAt: start, isWhole: true };
      await storeExport(store, version, [linesOf(scenario.invoices!.lines, scenario)], () => ({
        rows: 1,
        dropped: {},
      }));
      const rules = ledgerRules(rulesOf(scenario), "");
      const windows = clustersOf(scenario).flatMap((cluster) =>
        Array.from({ length: HOURS }, (_, hour) => ({ cluster, windowStart: start + hour * HOUR_MILLIS })),
      );
      const now = scenario.period.end;
      const { breaches } = await settle(store, windows, rules, { generation: 100 * month, now });
      expect(breaches).toEqual([]);
      const reconciled = await reconcile(store, { period: readPeriod(name)!, policy: "default" });
      const statements = statementsOf(reconciled);
      expect(sumOf(statements.map(({ effective }) => effective))).toBe(sumOf(scenario.invoices!.lines.map(textOf)));
      const texts = statements.flatMap(({ effectiveRows }) => effectiveRows.map(({ what }) => what));
      expect(texts).not.toContain("not divided over hours yet");
      const assigned = reconciled.assigned.filter(({ to }) => to === "node" || to === "platform");
      expect(sumOf(reconciled.charged.map(({ charged }) => charged))).toBe(
        sumOf(assigned.map(({ effective }) => effective)),
      );
      expect(await createAssigner(store, rules.charge.invoices!).assign({ generation: 100 * month + 99, now })).toEqual(
        [],
      );
    }),
    { numRuns: rounds(20, 3), seed: SEED },
  );
});

function textOf({ effective }: { readonly effective: Rational }): string {
  return roundedDecimal(effective, 9);
}

function sumOf(amounts: readonly string[]): string {
  const exact = amounts.map((text) => parseDecimal(text) as { readonly value: Rational });
  return roundedDecimal(exact.map(({ value }) => value).reduce(add, ZERO), 9);
}
