import { describe, expect, it, onTestFinished } from "vitest";
import { requirePart } from "../support/parts.ts";
import { expectScrapes, startRemoteWriteTrial } from "../support/remote-write-trial.ts";

/** Prometheus sends a batch after a second. After SIGKILL it never sends the samples of its last batches. */
const UNSENT_MILLIS = 3_000;

const sleep = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis));

describe.runIf(requirePart("prometheus"))("a real Prometheus that writes to a collector", () => {
  it("has each of its scrapes on the bus, as a collector would have scraped it, while both are killed", async () => {
    const trial = await startRemoteWriteTrial();
    onTestFinished(() => trial.dispose());
    const { exporters } = trial;
    await trial.kill("collector");
    await sleep(4_000);
    await trial.startCollector();
    // Prometheus waits between its attempts. It loses what it has not sent when it is killed.
    await sleep(10_000);

    const killedMillis = Date.now();
    await trial.kill("Prometheus");
    await sleep(2_000);
    await trial.startPrometheus();
    await sleep(6_000);

    const [, down] = exporters;
    const downUrl = new URL(down!.url).host;
    await down!.close();
    await sleep(6_000);

    const ups = await trial.ups();
    await trial.stopPrometheus();
    // The collector waits 10 s for the series that a moment lacks.
    await sleep(14_000);
    const scrapes = await trial.end();
    for (const { served } of exporters) expect(served.length).toBeGreaterThan(10);
    expectScrapes(trial, ups, scrapes, (at) => at >= killedMillis - UNSENT_MILLIS && at <= killedMillis);
    const downs = [...ups.get(downUrl)!.values()].filter((up) => up === 0);
    expect(downs.length).toBeGreaterThan(2);
  });
});
