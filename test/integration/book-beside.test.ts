import { readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { bookBeside, bookText } from "../../cli/invoices/book-beside.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { ledgerRules } from "../../processors/ledger/charging/rules.ts";
import { storeExport } from "../../processors/ledger/invoiced/store-export.ts";
import { settle } from "../../processors/ledger/term/settle.ts";
import { linesOf, SCENARIO_SOURCE } from "../../scenarios/invoices.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { createTestDatabase } from "../support/database.ts";
import { storeScenario } from "../support/play.ts";

const FILE = "test/scenarios/invoices/on-demand-and-spot.yaml";

it("the price book has its cost beside the cost of exports, by pool and model", async () => {
  const store = await createTestDatabase("book_beside");
  onTestFinished(() => store.close());
  const scenario = readScenario(readFileSync(FILE, "utf8"), FILE);
  const { start, end } = scenario.period;
  await storeScenario(store, scenario);
  const version = { source: SCENARIO_SOURCE, name: "a", content: "", readBy: "test", readAt: start, isWhole: true };
  await storeExport(store, version, [linesOf(scenario.invoices!.lines, scenario)], () => ({ rows: 2, dropped: {} }));
  const rules = ledgerRules(rulesOf(scenario), "");
  const windows = [start, start + HOUR_MILLIS].map((windowStart) => ({ cluster: "default", windowStart }));
  await settle(store, windows, rules, { generation: 1, now: end });
  const pools = await bookBeside(store, rules.charge, rules.charge.policies[0]!, { from: start, until: end });
  // By the export 8.00 and 3.00, and 6.00 for the hour without lines; by the book 4.5 GPU-hours at 3.00.
  expect(pools).toEqual([
    { pool: "", gpuModel: "NVIDIA-A100-SXM4-40GB", charged: "17", byBook: "13.5", difference: "-3.5" },
  ]);
  expect(bookText(pools, "USD")).toBe(
    `pool  GPU model              as charged, USD  by the price book  difference
      NVIDIA-A100-SXM4-40GB               17               13.5        -3.5`,
  );
});
