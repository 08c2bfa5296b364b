import { describe, expect, it, onTestFinished } from "vitest";
import { requirePart } from "../support/parts.ts";
import { expectScrapes, startRemoteWriteTrial } from "../support/remote-write-trial.ts";

/** Prometheus' queues send side by side, and each may keep samples for a second. After SIGKILL it never sends them. */
const SHARDS_MILLIS = 3_000;
/** The time in which a target is down. */
const DOWN_MILLIS = 4_000;
/** More than the time for which the collector waits for the series that a moment lacks. */
const LACKING_MILLIS = 14_000;

const sleep = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis));

describe.runIf(requirePart("prometheus"))("a real Prometheus that writes to a collector", () => {
  it("has each of its scrapes on the bus, as a collector would have scraped it, while both are killed", async () => {
    const trial = await startRemoteWriteTrial();
    onTestFinished(() => trial.dispose());
    const { exporters } = trial;
    await trial.kill("collector");
    await sleep(4_000);
    await trial.startCollector();
    const startedMillis = Date.now();
    // Prometheus waits between its attempts. It loses what it has not sent when it is killed.
    await expect.poll(trial.acknowledgedMillis).toBeGreaterThan(startedMillis);

    const acknowledged = await trial.acknowledgedMillis();
    await trial.kill("Prometheus");
    const killedMillis = Date.now();
    await trial.startPrometheus();
    await expect.poll(trial.acknowledgedMillis).toBeGreaterThan(killedMillis + DOWN_MILLIS);

    const [, down] = exporters;
    const downUrl = new URL(down!.url).host;
    await down!.close();
    const closedMillis = Date.now();
    await expect.poll(trial.acknowledgedMillis).toBeGreaterThan(closedMillis + DOWN_MILLIS);

    const ups = await trial.ups();
    await trial.stopPrometheus();
    for (let before = -1, now = await trial.sent(); now !== before; now = await trial.sent()) {
      before = now;
      await sleep(LACKING_MILLIS);
    }
    const scrapes = await trial.end();
    for (const { served } of exporters) expect(served.length).toBeGreaterThan(10);
    expectScrapes(trial, ups, scrapes, (at) => at >= acknowledged - SHARDS_MILLIS && at <= killedMillis);
    const downs = [...ups.get(downUrl)!.values()].filter((up) => up === 0);
    expect(downs.length).toBeGreaterThan(2);
  });
});
