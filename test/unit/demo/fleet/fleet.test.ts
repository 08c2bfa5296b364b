import { describe, expect, test } from "vitest";
import { createFleet, type Fleet } from "../../../../demo/fleet/fleet.ts";
import { EXPORTER_MAKES } from "../../../../demo/fleet/makes.ts";

const gpusOf = (fleet: Fleet) => fleet.nodes.flatMap((node) => node.gpus);

describe("a fleet", () => {
  test.each([8, 9, 50, 95, 96, 97, 1000, 10_000])("of %i GPUs has exactly that number", (gpus) => {
    expect(gpusOf(createFleet({ seed: 1, gpus }))).toHaveLength(gpus);
  });

  test("of the default size has every kind of exporter, on 14 to 19 nodes", () => {
    const { nodes } = createFleet({ seed: 1, gpus: 96 });
    expect(new Set(nodes.map((node) => node.makeName))).toEqual(new Set(Object.keys(EXPORTER_MAKES)));
    expect(nodes.length).toBeGreaterThanOrEqual(14);
    expect(nodes.length).toBeLessThanOrEqual(19);
  });

  test("is the same for the same seed, including names and identities", () => {
    const [one, other] = [createFleet({ seed: 7, gpus: 200 }), createFleet({ seed: 7, gpus: 200 })];
    expect(identities(other)).toEqual(identities(one));
  });

  test("has other GPUs for another seed, on nodes of the same names", () => {
    const [one, other] = [createFleet({ seed: 7, gpus: 96 }), createFleet({ seed: 8, gpus: 96 })];
    const uuids = new Set(gpusOf(one).map((gpu) => gpu.uuid));
    expect(gpusOf(other).filter((gpu) => uuids.has(gpu.uuid))).toEqual([]);
    expect(other.nodes.map((node) => node.name)).toEqual(one.nodes.map((node) => node.name));
  });

  test("gives every node and GPU a unique identity", () => {
    const fleet = createFleet({ seed: 1, gpus: 10_000 });
    const count = fleet.nodes.length;
    expect(new Set(fleet.nodes.map((node) => node.name)).size).toBe(count);
    expect(new Set(fleet.nodes.map((node) => node.uid)).size).toBe(count);
    expect(new Set(gpusOf(fleet).map((gpu) => gpu.uuid)).size).toBe(10_000);
    const slots = gpusOf(fleet).flatMap((gpu) => gpu.slots);
    expect(new Set(slots.map((slot) => slot.key)).size).toBeGreaterThan(slots.length * 0.999);
  });

  test("never assigns more of a GPU than it has", () => {
    const weights = gpusOf(createFleet({ seed: 1, gpus: 96 })).map((gpu) =>
      gpu.slots.reduce((sum, slot) => sum + slot.weight, 0),
    );
    expect(Math.max(...weights)).toBeLessThanOrEqual(1 + 1e-9);
  });
});

function identities({ nodes }: Fleet): unknown {
  return nodes.map((node) => [
    node.name,
    node.uid,
    node.zone,
    node.exporterPod,
    node.gpus.map(({ uuid, serial, pciBusId }) => [uuid, serial, pciBusId]),
  ]);
}
