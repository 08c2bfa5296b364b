import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { play } from "../../../scenarios/play/play.ts";
import { scrapesOf } from "../../../scenarios/play/scrapes.ts";
import type { Scenario } from "../../../scenarios/files.ts";
import { decodedFacts, decodedScrapes, joinedSamples, millisOf, minute, scenarioWith } from "../../support/played.ts";
import { randomScenario } from "../../support/reference/random-scenario.ts";

const NODE = { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 2 };
const POD = { name: "p-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0] };

/** A column of one GPU's first row over time, by the minute; undefined if the exporter gave no value. */
function seriesOf(
  scenario: Scenario,
  column: string,
  gpu = "0",
  part?: string,
): readonly (readonly [number, number | undefined])[] {
  return joinedSamples(scenario)
    .filter(({ device }) => device.gpu === gpu && device.repeatsDevice !== true)
    .filter(({ device }) => (device.instance ?? device.partition) === part)
    .map(({ at, values }) => [(at - millisOf(0)) / 60_000, values[column]]);
}

describe("the scrapes of a played scenario", () => {
  it("are one for each node and scrape time, in the order of time, while the node exists", () => {
    const nodes = [
      NODE,
      { ...NODE, name: "gpu-b", from: minute(30), until: minute(90) },
      { ...NODE, name: "cpu", gpus: 0 },
    ];
    const scrapes = decodedScrapes(scenarioWith({ scrapeInterval: "30m", nodes }));
    expect(scrapes.map(({ node, scrapedAtMillis }) => `${(scrapedAtMillis - millisOf(0)) / 60_000} ${node}`)).toEqual([
      "0 gpu-a",
      "30 gpu-a",
      "30 gpu-b",
      "60 gpu-a",
      "60 gpu-b",
      "90 gpu-a",
    ]);
    expect(scrapes.map(({ sequence }) => sequence)).toEqual([0, 1, 0, 2, 1, 3]);
    expect(new Set(scrapes.map(({ intervalMillis }) => intervalMillis))).toEqual(new Set([1_800_000]));
  });

  it("lack the rows of a GPU in a gap, and are failed scrapes if all GPUs of a node are in a gap", () => {
    const telemetryGaps = [
      { gpus: [1], from: minute(10), until: minute(40) },
      { gpus: [0], from: minute(20), until: minute(30) },
      { from: minute(60), until: minute(70) },
    ];
    const scrapes = decodedScrapes(scenarioWith({ scrapeInterval: "10m", nodes: [{ ...NODE, telemetryGaps }] }));
    expect(scrapes.map(({ shape, failure }) => failure?.reason ?? shape.devices.map(({ gpu }) => gpu).join())).toEqual([
      "0,1",
      "0",
      "timeout",
      "0",
      "0,1",
      "0,1",
      "timeout",
      "0,1",
      "0,1",
      "0,1",
      "0,1",
      "0,1",
    ]);
    expect(scrapes.map(({ sequence }) => sequence)).toEqual(scrapes.map((_, place) => place));
  });

  it("have an XID for as long as it is latched, and a counter that a reload has reset", () => {
    const unavailable = [{ gpus: [0], from: minute(20), until: minute(60), because: "xid-79" }];
    const scenario = scenarioWith({
      scrapeInterval: "20m",
      nodes: [{ ...NODE, unavailable }],
      pods: [{ ...POD, activity: 0, powerWatts: 100 }],
    });
    expect(seriesOf(scenario, "xid_code")).toEqual([
      [0, 0],
      [20, 79],
      [40, 79],
      [60, 0],
      [80, 0],
      [100, 0],
    ]);
    expect(seriesOf(scenario, "xid_code", "1").every(([, code]) => code === 0)).toBe(true);
    // 100 W for 20 min are 120,000 J.
    expect(seriesOf(scenario, "energy_joules").map(([, joules]) => joules)).toEqual([
      0, 120_000, 240_000, 0, 120_000, 240_000,
    ]);
    expect(seriesOf(scenario, "energy_joules", "1").every(([, joules]) => joules === undefined)).toBe(true);
  });

  it("count the energy of pods that come and go between two scrapes", () => {
    const pods = [
      { ...POD, powerWatts: 60, scheduled: minute(5), finished: minute(10) },
      { ...POD, name: "p-1", powerWatts: 120, scheduled: minute(50) },
    ];
    const scenario = scenarioWith({ scrapeInterval: "30m", nodes: [NODE], pods });
    // 60 W × 300 s = 18,000 J; then 120 W from minute 50 on: 72,000 J by 60, 288,000 J by 90.
    expect(seriesOf(scenario, "energy_joules").map(([, joules]) => joules)).toEqual([0, 18_000, 90_000, 306_000]);
    expect(seriesOf(scenario, "power_watts").map(([, watts]) => watts)).toEqual([0, 0, 120, 120]);
  });

  it("have one value per device: the sum of its pods, at most 1; 0 without a pod, and no value if no pod is measured", () => {
    const half = (name: string, activity?: number): object => ({
      ...POD,
      name,
      holds: { fraction: 0.5 },
      ...(activity === undefined ? {} : { activity }),
    });
    const at = (...pods: object[]): number | undefined =>
      seriesOf(scenarioWith({ nodes: [NODE], pods }), "gr_engine_active_ratio")[0]![1];
    expect(at()).toBe(0);
    expect(at(half("a"))).toBeUndefined();
    expect(at(half("a", 0.5), half("b", 0.2))).toBe(0.35);
    expect(at(half("a", 0.5), half("b"))).toBe(0.25);
    expect(at(half("a", 2), half("b", 1))).toBe(1);
  });

  it("follow a pod's activity and memory, and have neither after its end", () => {
    const activity = [
      { from: minute(0), until: minute(20), ratio: 0.75 },
      { from: minute(40), until: minute(120), ratio: 0.1 },
    ];
    const pods = [{ ...POD, activity, memoryUsedMiB: 1024, finished: minute(60) }];
    const scenario = scenarioWith({ scrapeInterval: "20m", nodes: [NODE], pods });
    const values = seriesOf(scenario, "gr_engine_active_ratio").map(([, value]) => value);
    expect(values).toEqual([0.75, undefined, 0.1, 0, 0, 0]);
    const used = seriesOf(scenario, "fb_used_bytes").map(([, value]) => value);
    expect(used).toEqual([1_073_741_824, 1_073_741_824, 1_073_741_824, 0, 0, 0]);
    expect(seriesOf(scenario, "fb_total_bytes")[0]![1]).toBe(40_960 * 1024 * 1024);
  });

  it("have each pod's part of the device if the exporter reports processes", () => {
    const pod = (name: string, ratio: number): object => ({
      ...POD,
      name,
      holds: { replicas: 1 },
      activity: ratio,
      processActivity: true,
      memoryUsedMiB: 512,
    });
    const sharing = { strategy: "mps", replicas: 2 };
    const scenario = scenarioWith({ nodes: [{ ...NODE, sharing }], pods: [pod("a", 0.9), pod("b", 0.1)] });
    const rows = joinedSamples(scenario).filter(({ at, device }) => at === millisOf(0) && device.gpu === "0");
    expect(
      rows.map(({ device, values }) => [
        device.pod,
        values["gr_engine_active_ratio"],
        values["process_utilization_ratio"],
        values["process_fb_used_bytes"],
      ]),
    ).toEqual([
      ["a", 0.5, 0.45, 536_870_912],
      ["b", 0.5, 0.05, 536_870_912],
    ]);
    expect(rows.map(({ device }) => [device.repeatsGpu === true, device.repeatsDevice === true])).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  it("have a row for each MIG instance as the layout changes, with whole-GPU values repeated", () => {
    const mig = [
      { from: minute(30), layout: { 0: ["1g.5gb", "3g.20gb"] } },
      { from: minute(60), layout: { 0: [] } },
    ];
    const unavailable = [{ gpus: [0], from: minute(30), until: minute(60), because: "xid-48" }];
    const pods = [{ ...POD, holds: { mig: "3g.20gb" }, devices: [{ gpu: 0, instance: 1 }], activity: 0.6 }];
    const scenario = scenarioWith({ scrapeInterval: "30m", nodes: [{ ...NODE, gpus: 1, mig, unavailable }], pods });
    expect(
      joinedSamples(scenario).map(({ at, device, values }) => [
        (at - millisOf(0)) / 60_000,
        device.instance ?? "-",
        device.profile ?? "-",
        device.repeatsGpu === true,
        values["gr_engine_active_ratio"] ?? "-",
        values["xid_code"],
        values["fb_total_bytes"]! / 1024 ** 3,
      ]),
    ).toEqual([
      [0, "-", "-", false, 0, 0, 40],
      [30, "0", "1g.5gb", false, 0, 48, 5],
      [30, "1", "3g.20gb", true, 0.6, 48, 20],
      [60, "-", "-", false, "-", 0, 40],
      [90, "-", "-", false, "-", 0, 40],
    ]);
  });

  it("have a row for each partition of an AMD GPU, under its exporter's name", () => {
    const nodes = [{ name: "mi300", model: "AMD-Instinct-MI300X", gpus: 1, partitions: { 0: 2 } }];
    const pods = [{ ...POD, node: "mi300", devices: [{ gpu: 0, instance: 1 }], activity: 0.5 }];
    const scenario = scenarioWith({ scrapeInterval: "1h", nodes, pods });
    expect(seriesOf(scenario, "gpu_utilization_ratio", "0", "0").map(([, value]) => value)).toEqual([0, 0]);
    expect(seriesOf(scenario, "gpu_utilization_ratio", "0", "1").map(([, value]) => value)).toEqual([0.5, 0.5]);
    expect(decodedScrapes(scenario)[0]!.shape.exporter).toBe("amd-device-metrics-exporter");
  });

  it("come after the facts of the same moment where all messages are played, and facts go on after the last", () => {
    const pods = [{ ...POD, scheduled: minute(60), finished: minute(90) }];
    const messages = [...play(scenarioWith({ scrapeInterval: "1h", nodes: [NODE], pods }))];
    expect(messages.map(({ topic, atMillis }) => `${(atMillis - millisOf(0)) / 60_000} ${topic}`)).toEqual([
      "0 gpu.cluster",
      "0 gpu.inventory",
      "0 gpu.samples",
      "60 gpu.workloads",
      "60 gpu.samples",
      "90 gpu.workloads",
      "95 gpu.workloads",
    ]);
  });

  it("are made as they are asked for, so that a month of a large fleet needs no memory", () => {
    const scenario = {
      ...scenarioWith({
        nodes: Array.from({ length: 13 }, (_, index) => ({ ...NODE, name: `gpu-${index}`, gpus: 8 })),
        pods: [{ ...POD, node: "gpu-0", activity: 0.5, powerWatts: 300 }],
      }),
      period: { start: Date.UTC(2026, 2, 1), end: Date.UTC(2026, 3, 1) },
    };
    let count = 0;
    let bytes = 0;
    for (const { value } of scrapesOf(scenario)) {
      bytes += value.length;
      if (++count === 13 * 2880) break;
    }
    expect(count).toBe(13 * 2880);
    expect(bytes / count).toBeLessThan(10_000);
  });
});

describe("whatever a fleet does", () => {
  it("its messages decode, and nobody but who holds a device is named on it", () => {
    fc.assert(
      fc.property(randomScenario, (scenario) => {
        expect(decodedFacts(scenario).length).toBeGreaterThan(0);
        for (const { at, node, holder, device } of joinedSamples(scenario)) {
          if (holder.holders === 0) continue;
          const pod = scenario.pods.find(({ name }) => name === holder.name)!;
          expect({ node: pod.node, from: pod.scheduled! <= at, until: at < pod.finished! }).toEqual({
            node,
            from: true,
            until: true,
          });
          expect(holder.evidence === "label" ? pod.devices : []).toEqual(
            holder.evidence === "label" ? [Number(device.gpu)] : [],
          );
        }
      }),
      { numRuns: 15 },
    );
  });
});
