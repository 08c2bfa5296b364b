import { describe, expect, test } from "vitest";
import { inspectPage, type InspectedDevice } from "../../../../collectors/exporters/inspect.ts";
import { createPageBuffer } from "../../../../demo/exporter/page.ts";
import { createPageRenderer } from "../../../../demo/exporter/renderer.ts";
import { createFleet } from "../../../../demo/fleet/fleet.ts";
import { collectedAt, type FleetNode, type Trouble } from "../../../../demo/fleet/node.ts";
import { bootedAt, isExporterAway } from "../../../../demo/fleet/troubles.ts";
import { rounds } from "../../../support/rounds.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../../../domain/time.ts";

const START = Date.UTC(2026, 5, 2);
const fleet = createFleet({ seed: 5, gpus: 96 });

/** Repeated readings of a node by a collector. */
function readings(
  node: FleetNode,
  stepMillis: number,
  spanMillis: number,
): { readonly at: number; readonly devices: readonly InspectedDevice[] }[] {
  const [renderer, buffer] = [createPageRenderer(node), createPageBuffer()];
  const times = Array.from({ length: spanMillis / stepMillis }, (_, i) => collectedAt(node, START + i * stepMillis));
  return times.map((at) => {
    const inspection = inspectPage(renderer.render(at, buffer));
    if ("reason" in inspection) throw new Error(`${node.name}: ${inspection.detail}`);
    return { at, devices: inspection.devices };
  });
}

function nodeWith(trouble: Trouble): FleetNode {
  return fleet.nodes.find((node) => node.troubles.has(trouble))!;
}

describe("the energy counter", () => {
  test("never falls except after the driver was loaded again", () => {
    const falls: string[] = [];
    const expected: string[] = [];
    for (const node of fleet.nodes) {
      const last = new Map<string, { readonly joules: number; readonly booted: number }>();
      for (const { at, devices } of readings(node, (6 * DAY_MILLIS) / rounds(144), 6 * DAY_MILLIS)) {
        const booted = bootedAt(node, at);
        const gpus = new Map(devices.map(({ device, values }) => [device.uuid!, values["energy_joules"] ?? 0]));
        for (const [uuid, joules] of gpus) {
          const before = last.get(uuid);
          if (before !== undefined && joules < before.joules) falls.push(`${uuid} at ${at}`);
          if (before !== undefined && booted !== before.booted) expected.push(`${uuid} at ${at}`);
          last.set(uuid, { joules, booted });
        }
      }
    }
    expect(falls).toEqual(expected);
    expect(falls.length).toBeGreaterThan(0);
  });

  test("grows by the drawn power, within three percent over six hours", () => {
    const nodes = ["gpu-h100-02", "gpu-l4-01", "gpu-h100mig-01", "gpu-t4-01"].map((name) =>
      fleet.nodes.find((node) => node.name === name)!,
    );
    const errors: number[] = [];
    for (const node of nodes) {
      const pages = readings(node, 60_000, 6 * HOUR_MILLIS);
      const seconds = (pages.at(-1)!.at - pages[0]!.at) / 1000;
      for (const { uuid } of node.gpus) {
        const rows = pages.map(({ devices }) => devices.find(({ device }) => device.uuid === uuid)?.values);
        // The GPU that falls off the bus has no mean power.
        if (rows.includes(undefined)) continue;
        const watts = rows.reduce((sum, row) => sum + row!["power_watts"]!, 0) / rows.length;
        const joules = rows.at(-1)!["energy_joules"]! - rows[0]!["energy_joules"]!;
        errors.push(Math.abs(joules / seconds / watts - 1));
      }
    }
    expect(errors.length).toBeGreaterThanOrEqual(19);
    expect(Math.max(...errors)).toBeLessThan(0.03);
  });
});

describe("the faults of the demo", () => {
  test("a GPU reports XID 79, then is gone for hours of a day, and comes back", () => {
    const node = nodeWith("gpu-falls-off");
    const pages = readings(node, 60_000, DAY_MILLIS);
    const gone = pages.filter(({ devices }) => devices.length === node.gpus.length - 1).length;
    expect(gone).toBeGreaterThan(2 * 58);
    expect(gone).toBeLessThan(5 * 60 + 1);
    const first = pages.findIndex(({ devices }) => devices.length < node.gpus.length);
    const codes = pages[first - 1]!.devices.map(({ values }) => values["xid_code"]);
    expect(codes).toContain(79);
    expect(pages.at(-1)!.devices).toHaveLength(node.gpus.length);
  });

  test("a GPU is hotter than 85 degrees for a time while it works", () => {
    const pages = readings(nodeWith("hot-gpu"), 900_000, 7 * DAY_MILLIS);
    const hottest = pages.map(({ devices }) =>
      Math.max(...devices.map(({ values }) => values["gpu_temperature_celsius"]!)),
    );
    const hot = hottest.filter((celsius) => celsius > 85).length;
    expect(hot).toBeGreaterThan(6);
    expect(hot).toBeLessThan(pages.length / 3);
    expect(Math.max(...hottest)).toBeLessThan(97);
  });

  test("an XID stays until the next start of the node, on one GPU", () => {
    const pages = readings(nodeWith("xid"), HOUR_MILLIS, 6 * DAY_MILLIS);
    const codes = pages.map(({ devices }) => devices.filter(({ values }) => values["xid_code"]! > 0).length);
    expect(Math.max(...codes)).toBe(1);
    expect(codes.at(-1)).toBe(1);
  });

  test("one exporter is away for ten minutes of every hour", () => {
    const minutes = Array.from({ length: 240 }, (_, i) => START + i * 60_000);
    const away = fleet.nodes.map((node) => minutes.filter((at) => isExporterAway(node, at)).length);
    expect(away.filter((count) => count > 0)).toEqual([40]);
  });

  test("profiling counters stay at 0 on one node while GPUs are used", () => {
    const rows = readings(nodeWith("profiling-stuck"), HOUR_MILLIS, DAY_MILLIS).flatMap(({ devices }) => devices);
    expect(Math.max(...rows.map(({ values }) => values["gr_engine_active_ratio"]!))).toBe(0);
    expect(Math.max(...rows.map(({ values }) => values["gpu_utilization_ratio"]!))).toBeGreaterThan(0.2);
  });

  test("single scrapes lack every pod because the kubelet fails", () => {
    const pages = readings(nodeWith("kubelet-errors"), 30_000, 6 * HOUR_MILLIS);
    const labeled = pages.map(({ devices }) => devices.some(({ device }) => device.pod !== undefined));
    const bare = labeled.filter((each) => !each).length;
    expect(bare).toBeGreaterThan(3);
    expect(bare).toBeLessThan(pages.length / 10);
  });
});
