import { describe, expect, it, onTestFinished } from "vitest";
import { requirePart } from "../support/parts.ts";
import { expectScrapes, startRemoteWriteTrial } from "../support/remote-write-trial.ts";

describe.runIf(requirePart("prometheus"))("a real Prometheus that writes to a collector", () => {
  it("has each of its scrapes on the bus, as a collector would have scraped it", async () => {
    const trial = await startRemoteWriteTrial();
    onTestFinished(() => trial.dispose());
    const { address } = trial;
    const ups = await trial.ups();
    await trial.stopPrometheus();

    const metrics = async (): Promise<string> => (await fetch(`${address}/metrics`)).text();
    const sent = [...ups.values()].reduce((sum, { size }) => sum + size, 0);
    await expect.poll(trial.sent).toBeGreaterThanOrEqual(sent);
    expect(await metrics()).toMatch(/^gpu_ledger_remote_write_requests_total\{code="204"\} [1-9]/m);
    expect(await metrics()).toMatch(/^gpu_ledger_remote_write_samples_left_out_total\{reason="other-series"\} [1-9]/m);
    expectScrapes(trial, ups, await trial.end());
  });
});
