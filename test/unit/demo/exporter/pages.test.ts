import { describe, expect, test } from "vitest";
import { inspectPage, type Inspection } from "../../../../collectors/exporters/inspect.ts";
import { createPageReader } from "../../../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../../../collectors/exporters/page/templates.ts";
import { createPageBuffer } from "../../../../demo/exporter/page.ts";
import { createPageRenderer } from "../../../../demo/exporter/renderer.ts";
import { createFleet } from "../../../../demo/fleet/fleet.ts";
import type { MakeName } from "../../../../demo/fleet/makes.ts";
import type { FleetNode } from "../../../../demo/fleet/node.ts";
import { DAY_MILLIS } from "../../../../domain/time.ts";

const START = Date.UTC(2026, 5, 2, 9);
const fleet = createFleet({ seed: 1, gpus: 96 });

function pageAt(node: FleetNode, at: number): string {
  return createPageRenderer(node).render(at, createPageBuffer()).toString("utf8");
}

function read(node: FleetNode, at: number): Inspection {
  const inspection = inspectPage(Buffer.from(pageAt(node, at)));
  if ("reason" in inspection) throw new Error(inspection.detail);
  return inspection;
}

function nodeOf(make: MakeName): FleetNode {
  return fleet.nodes.find((node) => node.makeName === make)!;
}

describe("every node's page", () => {
  test.each(fleet.nodes.map((node) => [node.name, node] as const))("%s is read without a problem", (_, node) => {
    for (let i = 0; i < 15; i++) {
      const { drops, devices, exporter } = read(node, START + i * 13_003_000);
      // Boards that cannot measure the temperature of their memory report 0. Only these values are left out.
      expect(drops.filter(({ reason }) => reason !== "unsupported-zero")).toEqual([]);
      expect(exporter).toBe(
        node.make.exporter === "device-metrics-exporter" ? "amd-device-metrics-exporter" : node.make.exporter,
      );
      expect(devices.length).toBeGreaterThanOrEqual(node.gpus.length - 1);
      expect(devices.flatMap(({ unknown }) => Object.keys(unknown))).toEqual([]);
    }
  });

  test("is the same for the same seed and time, independent of earlier renderings", () => {
    const buffer = createPageBuffer();
    const twin = createFleet({ seed: 1, gpus: 96 });
    fleet.nodes.forEach((node, i) => {
      const renderer = createPageRenderer(node);
      for (const offset of [5, -3, 2, 0.001, 0]) renderer.render(START + Math.round(offset * DAY_MILLIS), buffer);
      const seen = renderer.render(START + DAY_MILLIS, buffer).toString("utf8");
      expect(seen).toBe(pageAt(twin.nodes[i]!, START + DAY_MILLIS));
    });
  });

  test("differs for another seed and for another time", () => {
    const other = createFleet({ seed: 2, gpus: 96 });
    fleet.nodes.forEach((node, i) => {
      expect(pageAt(other.nodes[i]!, START)).not.toBe(pageAt(node, START));
      expect(pageAt(node, START + 30_000)).not.toBe(pageAt(node, START));
    });
  });

  test("is read by template from one time to the next while the pods stay the same", () => {
    const buffer = createPageBuffer();
    const reader = createPageReader(createTemplates(1e9));
    let templated = 0;
    let total = 0;
    for (const node of fleet.nodes) {
      const renderer = createPageRenderer(node);
      const origin = { cluster: "c", node: node.name, target: "t", collector: "d" };
      const source = { key: node.name, origin: () => origin };
      for (let i = 0; i < 40; i++) {
        const reading = reader.read(source, renderer.render(START + i * 30_000, buffer), true);
        if ("failure" in reading) throw new Error(reading.failure.detail);
        total += 1;
        if (reading.templated) templated += 1;
      }
    }
    expect(templated / total).toBeGreaterThan(0.9);
  });
});

describe("dialects", () => {
  test("2.x has no model and no profiling, and empty texts without a holder", () => {
    const page = pageAt(nodeOf("dcgm-2"), START + 11 * 3_600_000);
    expect(page).not.toMatch(/modelName|Hostname|DCGM_FI_PROF/);
    expect(page).toContain('device="nvidia1",container="",namespace="",pod=""} ');
  });

  test("3.1 has its own pod as the host", () => {
    const node = nodeOf("dcgm-3.1");
    expect(pageAt(node, START)).toContain(`Hostname="${node.exporterPod}"`);
  });

  test("4.2 has the pods' own labels and added counters", () => {
    const { devices } = read(nodeOf("dcgm-4.2"), START);
    const held = devices.filter(({ device }) => device.pod !== undefined);
    expect(held.length).toBeGreaterThan(0);
    for (const { device, values } of held) {
      expect(device.labels).toHaveProperty("team");
      expect(values).toHaveProperty("sm_active_ratio");
    }
  });

  test("4.5 to 4.8.1 leave the pod's UID empty, 4.8.2 fills it", () => {
    expect(pageAt(nodeOf("dcgm-4.5"), START)).toContain('pod_uid=""');
    expect(pageAt(nodeOf("dcgm-4.8.1"), START)).toContain('pod_uid=""');
    expect(pageAt(nodeOf("dcgm-4.8.2"), START)).toMatch(/pod_uid="[0-9a-f-]{36}"/);
  });

  test("4.8.3 sorts its families and has hostname in lower case", () => {
    const page = pageAt(nodeOf("dcgm-4.8.3"), START);
    const families = [...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
    expect(families).toEqual(families.toSorted());
    expect(page).toContain('hostname="');
    expect(page).not.toContain('Hostname="');
    expect(page).toMatch(/TOTAL_ENERGY_CONSUMPTION\{[^}]*\} \d\.\d+e\+\d\d\n/);
  });

  test("4.9 has base units that give the same columns", () => {
    const page = pageAt(nodeOf("dcgm-4.9"), START);
    expect(page).toContain("DCGM_FI_DEV_FB_USED_BYTES{");
    expect(page).not.toContain("DCGM_FI_DEV_FB_USED{");
    const devices = [0, 5, 10, 15].flatMap((hour) => read(nodeOf("dcgm-4.9"), START + hour * 3_600_000).devices);
    const clocks = devices.map(({ values }) => values["sm_clock_hertz"]!);
    expect(Math.min(...clocks)).toBeGreaterThan(1e8);
    const utilization = devices.map(({ values }) => values["gpu_utilization_ratio"]!);
    expect(Math.max(...utilization)).toBeGreaterThan(0.3);
    expect(Math.max(...utilization)).toBeLessThanOrEqual(1);
  });

  test("a MIG node mixes instances, an empty GPU and a whole one, and repeats the values of the GPU", () => {
    const node = nodeOf("dcgm-3.4.0");
    const { devices } = read(node, START);
    const cut = devices.filter(({ device }) => device.uuid === node.gpus[0]!.uuid);
    expect(cut.map(({ device }) => device.profile)).toEqual(
      expect.arrayContaining(["3g.20gb", "2g.10gb", "1g.5gb", "1g.5gb"]),
    );
    expect(new Set(cut.map(({ values }) => values["energy_joules"])).size).toBe(1);
    expect(cut.filter(({ device }) => device.repeatsGpu === true)).toHaveLength(cut.length - 1);
    expect(cut.some(({ values }) => "gpu_utilization_ratio" in values)).toBe(false);
    const [empty, whole] = [2, 3].map((i) => devices.filter(({ device }) => device.uuid === node.gpus[i]!.uuid));
    expect([empty, whole].map((rows) => rows!.map(({ device }) => device.instance))).toEqual([
      [undefined],
      [undefined],
    ]);
  });

  test("a time-sliced node has each pod's own part, beside the GPU's values", () => {
    const node = fleet.nodes.find((each) => each.sharing === "time-slicing")!;
    const { devices } = read(node, START + 4 * 3_600_000);
    const holders = devices.filter(({ device }) => device.vgpu !== undefined);
    expect(holders.length).toBeGreaterThan(2);
    for (const { values } of holders) expect(values).toHaveProperty("process_fb_used_bytes");
    const own = devices.filter(({ device }) => device.pod === undefined);
    expect(own).toHaveLength(node.gpus.length);
  });
});
