import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { CATALOG } from "../../../alerts/catalog/catalog.ts";
import { createLackingCounters, type SeenTarget } from "../../../services/lacking-counters.ts";
import { createMetrics } from "../../../runtime/telemetry/metrics.ts";

/** The canonical names of all values that alerts need. */
const ALL = [...new Set(CATALOG.flatMap(({ counters = [] }) => counters.flat()))];
const without = (...columns: readonly string[]) => ALL.filter((column) => !columns.includes(column));
const MARGIN = ["GPUThermalMarginExceeded", "GPUThermalMarginLow"];

function target(url: string, columns: readonly string[], more: Partial<SeenTarget> = {}): SeenTarget {
  return { job: "dcgm", url, gpus: 8, columns, ...more };
}

async function lacking(...rounds: readonly (readonly SeenTarget[])[]): Promise<readonly unknown[]> {
  const metrics = createMetrics(new Registry());
  const report = createLackingCounters(metrics);
  for (const targets of rounds) report(targets);
  const { values } = await metrics.alertsLacking.get();
  return values
    .toSorted((a, b) => String(a.labels["alert"]).localeCompare(String(b.labels["alert"])))
    .map(({ labels, value }) => ({ ...labels, value }));
}

describe("the counters that alerts lack", () => {
  it("are listed for each target with the alert and the counter", async () => {
    const bare = without("temperature_margin_celsius");
    const lacks = { scrape_job: "dcgm", target: "http://b", counter: "DCGM_FI_DEV_GPU_TEMP_LIMIT", value: 1 };
    expect(await lacking([target("http://a", ALL), target("http://b", bare)])).toEqual(
      MARGIN.map((alert) => ({ ...lacks, alert })),
    );
  });

  it("are not listed for a target that was not read, or has no GPU", async () => {
    expect(await lacking([target("http://a", [], { gpus: 0 })])).toEqual([]);
  });

  it("are counted for a job together if more than twenty targets lack the same", async () => {
    const bare = without("temperature_margin_celsius");
    const many = Array.from({ length: 21 }, (_, index) => target(`http://node-${index}`, bare));
    const values = await lacking([...many, target("http://x", bare, { job: "other" })]);
    expect(values).toHaveLength(4);
    expect(values).toContainEqual({
      scrape_job: "dcgm",
      target: "",
      alert: MARGIN[1],
      counter: "DCGM_FI_DEV_GPU_TEMP_LIMIT",
      value: 21,
    });
    expect(values).toContainEqual(expect.objectContaining({ scrape_job: "other", target: "http://x", value: 1 }));
  });

  it("are removed when the counter appears, and with the target", async () => {
    const bare = without("temperature_margin_celsius");
    expect(await lacking([target("http://a", bare)], [target("http://a", ALL)])).toEqual([]);
    expect(await lacking([target("http://a", bare)], [])).toEqual([]);
  });
});
