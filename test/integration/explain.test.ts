import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPeriod } from "../../domain/period.ts";
import { explain } from "../../reports/explain/read-explanation.ts";
import { explanationText } from "../../reports/explain/text.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readScenario } from "../../scenarios/read.ts";
import { createTestDatabase } from "../support/database.ts";
import { playScenario, scenarioFiles } from "../support/play-ledger.ts";

describe("an explanation", () => {
  const { scenario } = scenarioFiles().find(({ file }) => file === "telemetry-gap.yaml")!;
  const powered = scenarioFiles().find(({ file }) => file === "energy-of-a-shared-gpu.yaml")!.scenario;
  const { start, end } = scenario.period;
  const span = { name: "the hour", from: start, until: end };
  const of = (conditions: Readonly<Record<string, string>>) => ({
    policy: "default",
    kind: "showback" as const,
    span,
    where: Object.entries(conditions).map(([dimension, value]) => ({ dimension, values: [value] })),
  });
  let store: StoreClient;

  beforeAll(async () => {
    store = await createTestDatabase("explain");
    await playScenario(store, scenario);
  });
  afterAll(async () => {
    await store.close();
  });

  it("leads from a team's sum over states, owners, prices, workloads and evidence to the samples, each with the whole sum", async () => {
    const explanation = await explain(store, of({ team: "vision" }));
    expect(explanation).toMatchObject({ gpuHours: "1", cost: "7.2", unpricedGpuHours: "0" });
    expect(explanation.states.map(({ state, payer, cost }) => `${state} ${payer} ${cost}`).toSorted()).toEqual([
      "active holder 2.79",
      "idle holder 2.79",
      "unobserved holder 1.62",
    ]);
    expect(explanation.owners.map(({ team, rule, cost }) => [team, rule, cost])).toEqual([
      ["vision", "namespaceLabel team", "7.2"],
    ]);
    expect(explanation.prices.map(({ price, since, gpuHours }) => [price, since, gpuHours])).toEqual([
      ["NVIDIA-L4 from 2026-01-01", "2026-03-02T00:00:00Z", "1"],
    ]);
    expect(explanation.workloads.map(({ workload, pods, cost }) => [workload, pods, cost])).toEqual([
      ["train-0", 1, "7.2"],
    ]);
    expect(explanation.evidence.map(({ attribution, cost }) => [attribution, cost])).toEqual([["label", "7.2"]]);
    // Samples cover the time until 00:31:30 and from 00:45:00 on: 1,890 s and 900 s.
    const gap = explanation.lines.find(({ state }) => state === "unobserved")!;
    expect(gap).toMatchObject({ gpu: 0, share: "1", segment: { coveredMillis: 2_790_000, activityPpm: 500_000 } });
  });

  it("has its lines part by part in any order, with their number", async () => {
    const all = (await explain(store, of({}))).lines;
    const partAt = async (skip: number) => {
      const lines = { most: 2, skip, order: { by: "state", isDescending: true } } as const;
      return explain(store, of({}), { lines });
    };
    const parts = await Promise.all([0, 2, 4, 6, 8].map(partAt));
    expect(parts.map(({ lineCount }) => lineCount)).toEqual(parts.map(() => all.length));
    const shown = parts.flatMap(({ lines }) => lines);
    expect(shown.map(({ state }) => state)).toEqual(
      all
        .map(({ state }) => state)
        .toSorted()
        .toReversed(),
    );
    expect(new Set(shown.map((line) => JSON.stringify(line)))).toEqual(
      new Set(all.map((line) => JSON.stringify(line))),
    );
  });

  it("of a month has the lines that were booked in it", async () => {
    const booked = (name: string) =>
      explain(store, { ...of({ team: "vision" }), kind: "chargeback", span: readPeriod(name)! });
    const explanation = await booked("2026-03");
    expect(explanation).toMatchObject({ cost: "7.2" });
    expect(explanationText(explanation, "USD")).toContain("vision, 2026-03: 1 GPU-hours, 7.2 USD");
    expect(await booked("2026-04")).toMatchObject({ gpuHours: "0", lines: [] });
  });

  it("of a GPU at a moment has everything of that moment alone", async () => {
    const gpu = { cluster: "default", node: "gpu-a", slot: 0 };
    const ask = (at: number) => explain(store, { policy: "default", at, gpu, where: [] });
    expect(await ask(start + 1)).toMatchObject({ gpuHours: "1", cost: "7.2", lines: { length: 3 } });
    expect(await ask(end + 1)).toMatchObject({ gpuHours: "0", lines: { length: 0 } });
  });

  it("has the energy at the GPU, its emissions, and the time for which it is known", async () => {
    const own = await createTestDatabase("explain_energy");
    try {
      await playScenario(own, powered);
      const explanation = await explain(own, of({ team: "vision" }));
      expect(explanation).toMatchObject({ kWh: "0.09", carbonGrams: "54" });
      // The device's activity is divided by the held shares: a third of vision's quarter is active.
      expect(explanation.states).toMatchObject([
        { state: "idle", kWh: "0.06", carbonGrams: "36" },
        { state: "active", kWh: "0.03", carbonGrams: "18" },
      ]);
      const text = explanationText(explanation, "USD");
      expect(text).toContain(": 0.25 GPU-hours, 1 USD, 0.09 kWh at the GPU, 54 g of CO₂e. Policy: default.\n");
      expect(text.split("\n").at(-1)).toBe("    energy is known for 3600 of 3600 s of the GPU");
    } finally {
      await own.close();
    }
  });

  it.each([
    [
      "a contradiction",
      "  the node's GPUs are 2 by its exporter and 1 by its labels; 2 is used",
      (text: string) => text,
    ],
    [
      "a guess",
      "  the node's GPUs are 2 by its capacity: a guess, because this source also counts replicas and partitions",
      (text: string) => text.replace('nvidia.com/gpu.count: "1", ', "").replace(/^pages:[^]*(?=^prices:)/m, ""),
    ],
  ])("has the count of the node's GPUs if it is %s", async (what, sentence, edit) => {
    const file = "test/scenarios/reported/exporter-that-shows-more-than-a-label.yaml";
    const own = await createTestDatabase(`explain_${what.split(" ")[1]}`);
    try {
      const written = readScenario(edit(readFileSync(file, "utf8")), file);
      await playScenario(own, written);
      const { start: from, end: until } = written.period;
      const explanation = await explain(own, { ...of({ team: "ml" }), span: { name: "two hours", from, until } });
      expect(explanationText(explanation, "USD").split("\n")).toContain(`  ${sentence}`);
    } finally {
      await own.close();
    }
  });

  it("can be read from the top", async () => {
    const question = of({ team: "vision", state: "unobserved", workload: "train-0" });
    const text = explanationText(await explain(store, question), "USD");
    expect(text.split("\n").filter((line) => line !== "")).toEqual([
      "vision, unobserved, workload train-0, the hour: 0.225 GPU-hours, 1.62 USD. Policy: default.",
      "States and payers:",
      "  unobserved, paid by its holder: 0.225 GPU-hours, 1.62 USD",
      "Owners:",
      '  vision, by the rule "namespaceLabel team": 0.225 GPU-hours, 1.62 USD',
      "Prices:",
      '  "NVIDIA-L4 from 2026-01-01", in use since 2026-03-02T00:00:00Z: 0.225 GPU-hours, 1.62 USD',
      "Workloads:",
      "  Pod vision/train-0, 1 pod: 0.225 GPU-hours, 1.62 USD",
      "Evidence of the holder:",
      "  the exporter's label: 0.225 GPU-hours, 1.62 USD",
      "The line:",
      "  GPU 0 of gpu-a, 2026-03-02T00:00:00Z to 2026-03-02T01:00:00Z, vision/train-0 has 1 of it: unobserved, 0.225 GPU-hours, 1.62 USD",
      expect.stringMatching(
        /^ {4}45 samples of GPU-\S+ from 2026-03-02T00:00:00Z to 2026-03-02T00:59:00Z: 2790 of 3600 s are covered, 50\.0 % active on average$/,
      ),
    ]);
    const nobody = await explain(store, of({ team: "speech" }));
    expect(explanationText(nobody, "USD")).toBe("No charges: speech, the hour.");
  });
});
