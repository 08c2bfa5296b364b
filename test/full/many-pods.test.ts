import { afterAll, expect, it } from "vitest";
import { createCommandFolder } from "../support/command.ts";

const PODS = 500;
const GPUS = 8;
const folder = createCommandFolder();
afterAll(() => folder.dispose());

/** Pods that come one after the other to one node, and hold parts of its GPUs until the hour's end. */
function scenarioOf(holds: object, node: object): object {
  const at = (second: number): string =>
    new Date(Date.UTC(2026, 2, 2) + second * 1000).toISOString().replace(".000", "");
  return {
    title: "Hundreds of pods on one node",
    period: { start: "2026-03-02T00:00:00Z", end: "2026-03-02T01:00:00Z" },
    nodes: [{ name: "gpu-a", model: "NVIDIA-L4", gpus: GPUS, ...node }],
    pods: Array.from({ length: PODS }, (_, index) => ({
      name: `p-${index}`,
      namespace: "ml",
      node: "gpu-a",
      holds,
      devices: [index % GPUS],
      activity: 0.01,
      scheduled: at(Math.floor((index * 3000) / PODS)),
    })),
    prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.60" }],
    expect: { default: { total: "28.80" } },
  };
}

it.each([
  ["replicas", { replicas: 1 }, { sharing: { strategy: "time-slicing", replicas: 100 } }],
  ["parts by HAMi", { hami: { gpus: 1, memoryMiB: 200 } }, {}],
])("hundreds of pods on one node are metered and charged within the store's memory: %s", async (name, holds, node) => {
  const file = folder.write(`${name}.yaml`, scenarioOf(holds, node));
  const { code, stderr } = await folder.call(["scenario", file]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
