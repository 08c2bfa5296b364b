import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFleet } from "../../../../demo/fleet/fleet.ts";
import { RESIDENTS } from "../../../../demo/fleet/residents.ts";
import { tenancyAt } from "../../../../demo/fleet/tenancy.ts";
import { podsAt } from "../../../support/fleet-pods.ts";
import { rounds } from "../../../support/rounds.ts";

const FROM = Date.UTC(2026, 0, 1);
const YEAR_MILLIS = 365 * 86_400_000;
const fleet = createFleet({ seed: 3, gpus: 96 });
const slots = fleet.nodes.flatMap((node) => node.gpus.flatMap((gpu) => gpu.slots));
const slot = fc.constantFrom(...slots);
const time = fc.integer({ min: FROM, max: FROM + YEAR_MILLIS });
const moments = Array.from({ length: 60 }, (_, i) => FROM + i * 6 * 86_400_000 + i * 3_123_457);

describe("the holder of a slot", () => {
  test("is the same at every moment of a tenancy", () => {
    fc.assert(
      fc.property(slot, time, fc.double({ min: 0, max: 0.999_999, noNaN: true }), (which, at, part) => {
        const tenancy = tenancyAt(which, at);
        expect(tenancy.fromMillis).toBeLessThanOrEqual(at);
        expect(tenancy.untilMillis).toBeGreaterThan(at);
        const { fromMillis, untilMillis } = tenancy;
        const elsewhere = Math.floor(fromMillis + part * (untilMillis - fromMillis));
        expect(tenancyAt(which, elsewhere)).toEqual(tenancy);
      }),
      { numRuns: rounds(2000) },
    );
  });

  test("changes where a tenancy ends, without a gap", () => {
    fc.assert(
      fc.property(slot, time, (which, at) => {
        const { untilMillis } = tenancyAt(which, at);
        expect(tenancyAt(which, untilMillis).fromMillis).toBe(untilMillis);
      }),
      { numRuns: rounds(1000) },
    );
  });

  test("runs within the pod's own times", () => {
    fc.assert(
      fc.property(slot, time, (which, at) => {
        const { pod } = tenancyAt(which, at);
        fc.pre(pod !== undefined);
        expect(pod.startMillis).toBeLessThanOrEqual(at);
        expect(pod.endMillis).toBeGreaterThan(at);
        expect(pod.node).toBe(which.node.name);
      }),
    );
  });
});

describe("the pods of a moment", () => {
  test("never share a GPU, an instance or a replica, at any of many times", () => {
    for (const at of moments) {
      const held = podsAt(fleet, at).flatMap((placed) => placed.slots.map((each) => each.key));
      expect(new Set(held).size).toBe(held.length);
      // Exclusive nodes have one slot for each GPU, so a pod with a slot has a GPU.
      expect(held.length).toBeGreaterThan(slots.length * 0.4);
    }
  });

  test("have a unique UID and a unique name", () => {
    for (const at of moments) {
      const pods = podsAt(fleet, at).map(({ pod }) => pod);
      expect(new Set(pods.map((pod) => `${pod.namespace}/${pod.name}`)).size).toBe(pods.length);
      expect(new Set(pods.map((pod) => pod.uid)).size).toBe(pods.length);
    }
  });

  test("hold GPUs of one node, and gangs are complete", () => {
    let gangs = 0;
    for (const at of moments) {
      const placed = podsAt(fleet, at);
      for (const { pod, slots: held } of placed) {
        expect(new Set(held.map((each) => each.node.name))).toEqual(new Set([pod.node]));
        // A pod that was submitted long before may be that of a gang that waits.
        if (pod.gang === undefined || pod.submittedMillis !== undefined) continue;
        gangs += 1;
        const ranks = placed.filter((each) => each.pod.workload.uid === pod.workload.uid);
        expect(ranks).toHaveLength(pod.gang.size);
      }
    }
    expect(gangs).toBeGreaterThan(0);
  });

  test("are in the fleet's namespaces, of every team and every type", () => {
    const pods = moments.flatMap((at) => podsAt(fleet, at).map(({ pod }) => pod));
    const teams = new Map(fleet.namespaces.map(({ name, team }) => [name, team]));
    expect(pods.filter((pod) => teams.get(pod.namespace) !== pod.team)).toEqual([]);
    expect(new Set(pods.map((pod) => pod.team))).toEqual(new Set(teams.values()));
    expect(new Set(pods.map((pod) => pod.type))).toEqual(new Set(["training", "inference", "notebook"]));
  });

  test("include a notebook that holds its GPU for weeks without any activity", () => {
    const forgotten = slots.filter(({ resident }) => resident?.plan === RESIDENTS.jupyterGus);
    expect(forgotten.length).toBeGreaterThan(0);
    const pods = moments.flatMap((at) => forgotten.flatMap((each) => tenancyAt(each, at).pod ?? []));
    expect(pods.length).toBeGreaterThan(moments.length * 0.9);
    for (const { load, startMillis, endMillis } of pods) {
      expect(load).toEqual({ base: 0, waves: [] });
      expect(endMillis - startMillis).toBeGreaterThan(20 * 86_400_000);
    }
  });
});
