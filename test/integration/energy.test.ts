import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { integrate } from "../../processors/ledger/metering/integrate.ts";
import type { Measurement } from "../../processors/ledger/plan/measurement.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";

const START = Date.UTC(2026, 2, 2, 10);
const INTERVAL = 30_000;
const REACH = 75_000;

/** A row of a scrape: seconds after the beginning of the hour, and the values of counter and power. */
interface Row {
  readonly at: number;
  readonly joules?: number;
  readonly watts?: number;
  readonly instance?: string;
}

describe("the energy of a GPU in the store", () => {
  let store: StoreClient;
  let gpus = 0;

  beforeAll(async () => {
    store = await createTestDatabase("energy");
  });
  afterAll(async () => {
    await store.close();
  });

  /** Stores the scrapes of a new GPU, and returns its name. */
  async function scraped(rows: readonly Row[]): Promise<string> {
    const gpuKey = `GPU-${(gpus += 1)}`;
    await store.insertJson(
      "gpu_samples",
      rows.map(({ at, joules = null, watts = null, instance = "" }) => ({
        cluster: "c",
        node: "n",
        gpu_key: gpuKey,
        instance,
        scraped_at: new Date(START + at * 1000).toISOString(),
        interval_ms: INTERVAL,
        energy_joules: joules,
        power_watts: watts,
      })),
    );
    return gpuKey;
  }

  /** Joules and covered seconds of spans in seconds of an hour, by default the first. */
  async function measured(
    gpuKey: string,
    spans: readonly (readonly [from: number, until: number])[],
    given: { readonly series?: "device" | "gpu"; readonly start?: number } = {},
  ): Promise<readonly (readonly [joules: number, seconds: number])[]> {
    const { series = "device", start = START } = given;
    const caps = { since: 0, claimPpm: 0, claimsPpm: 0, occupantPpm: 0 };
    const measurements = spans.map(([from, until]): Measurement => ({
      series,
      node: "n",
      gpuKey,
      part: "",
      pod: "",
      from: START + from * 1000,
      until: START + until * 1000,
      ...caps,
    }));
    const sums = await integrate(store, { cluster: "c", start, reachMillis: REACH, measurements });
    return sums.map((one) => [Number(one.energyMillijoules) / 1000, one.energyCoveredMillis / 1000] as const);
  }

  it("is the increase of its counter, spread over the time between two scrapes, and its power where no other scrape follows", async () => {
    // 9 kJ in 30 s, then 3 kJ; after the last scrape 100 W for the time that the scrape covers.
    const gpu = await scraped([
      { at: 0, joules: 1000, watts: 300 },
      { at: 30, joules: 10_000, watts: 100 },
      { at: 60, joules: 13_000, watts: 100 },
    ]);
    expect(
      await measured(gpu, [
        [0, 3600],
        [0, 30],
        [10, 40],
        [60, 3600],
        [135, 3600],
      ]),
    ).toEqual([
      [19_500, 135],
      [9000, 30],
      [7000, 30],
      [7500, 75],
      [0, 0],
    ]);
  });

  it("is not lost at a cut, for any size of the parts", async () => {
    const gpu = await scraped([
      { at: 0, joules: 0 },
      { at: 30, joules: 0.1 },
      { at: 60, joules: 0.2 },
    ]);
    const cuts = Array.from({ length: 17 }, (_, index) => (index * 60) / 17).map((at) => Math.round(at * 1000) / 1000);
    const parts = await measured(
      gpu,
      [...cuts.entries()].map(([index, at]) => [at, cuts[index + 1] ?? 60] as const),
    );
    expect(parts.reduce((sum, [joules]) => sum + Math.round(joules * 1000), 0)).toBe(200);
    expect(new Set(parts.map(([joules]) => joules)).size).toBeLessThan(4);
  });

  it("is the value of the counter after a reset", async () => {
    const gpu = await scraped([
      { at: 0, joules: 50_000 },
      { at: 30, joules: 4000 },
      { at: 60, joules: 10_000 },
    ]);
    expect(await measured(gpu, [[0, 60]])).toEqual([[10_000, 60]]);
  });

  it("counts once if instances repeat it a little earlier or later: the highest counter of a scrape", async () => {
    const gpu = await scraped(
      [0, 30, 60].flatMap((at) => [
        { at, instance: "1", joules: 1000 + at * 200 + 3, watts: 201 },
        { at, instance: "2", joules: 1000 + at * 200, watts: 200 },
      ]),
    );
    expect(
      await measured(
        gpu,
        [
          [0, 60],
          [45, 60],
        ],
        { series: "gpu" },
      ),
    ).toEqual([
      [12_000, 60],
      [3000, 15],
    ]);
  });

  it("is its power × time if a counter has risen by more than a GPU can draw, and 0 if neither is plausible", async () => {
    const gpu = await scraped([
      { at: 0, joules: 1000, watts: 200 },
      { at: 30, joules: 9e9, watts: 200 },
      { at: 60, joules: 13_000, watts: 200 },
      { at: 90, joules: 19_000, watts: 50_000 },
      { at: 120, watts: 50_000 },
    ]);
    expect(
      await measured(gpu, [
        [0, 30],
        [30, 60],
        [60, 90],
        [90, 600],
      ]),
    ).toEqual([
      [6000, 30],
      // 13 kJ can be drawn in 30 s, so a reset of the counter is possible.
      [13_000, 30],
      [6000, 30],
      [0, 0],
    ]);
  });

  it("is not extrapolated over a gap that is longer than the time that a scrape covers", async () => {
    const gpu = await scraped([
      { at: 0, joules: 0 },
      { at: 30, joules: 6000, watts: 200 },
      { at: 330, joules: 66_000 },
      { at: 360, joules: 72_000 },
    ]);
    expect(await measured(gpu, [[0, 360]])).toEqual([[27_000, 135]]);
  });

  it("of two hours sums to the increase of the counter over their boundary", async () => {
    const gpu = await scraped([
      { at: 3590, joules: 1000, watts: 1 },
      { at: 3620, joules: 7001, watts: 1 },
      { at: 3650, joules: 13_000, watts: 1 },
    ]);
    const [before] = await measured(gpu, [[0, 3600]]);
    const [after] = await measured(gpu, [[3600, 3650]], { start: START + HOUR });
    expect([before, after]).toEqual([
      [2000.333, 10],
      [9999.667, 50],
    ]);
  });
});
