import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { NOON } from "../../../../support/facts.ts";
import { gpu, joinWorld, labeled, shapeOf, type JoinWorld } from "../../../../support/join-world.ts";
import { MINUTE_MILLIS as MINUTE } from "../../../../../domain/time.ts";

let world: JoinWorld;
beforeEach(() => {
  world = joinWorld();
});

const bound = (from: number, until?: number): { times: { created: number; scheduled: number; finished?: number } } => ({
  times: { created: from - 1_000, scheduled: from, ...(until === undefined ? {} : { finished: until }) },
});

describe("a label does not give a wrong holder", () => {
  it("if its pod has finished: a pod holds from its binding up to its end, to the millisecond", () => {
    world.pod("a", bound(NOON, NOON + MINUTE));
    const shape = shapeOf([gpu(0, labeled("a"))]);
    expect(world.holderTexts(shape, NOON)).toEqual(["label a/uid-a of 1"]);
    expect(world.holderTexts(shape, NOON + MINUTE - 1)).toEqual(["label a/uid-a of 1"]);
    expect(world.holderTexts(shape, NOON + MINUTE)).toEqual(["none  of 0"]);
  });

  it("if its pod, named by the UID, has finished: at its end nobody holds", () => {
    world.pod("a", bound(NOON, NOON + MINUTE));
    const shape = shapeOf([gpu(0, { ...labeled("a"), podUid: "uid-a" })]);
    expect(world.holderTexts(shape, NOON + MINUTE - 1)).toEqual(["label a/uid-a of 1"]);
    expect(world.holderTexts(shape, NOON + MINUTE)).toEqual(["none  of 0"]);
  });

  it("if the pod has ended at an unknown time: it ended when that was observed", () => {
    world.pod("a", { phase: "Failed", seenAtMillis: NOON + MINUTE, ...bound(NOON) });
    const shape = shapeOf([gpu(0, labeled("a"))]);
    expect(world.holderTexts(shape, NOON + MINUTE - 1)).toEqual(["label a/uid-a of 1"]);
    expect(world.holderTexts(shape, NOON + MINUTE)).toEqual(["none  of 0"]);
  });

  it("if the finished pod stays in the cluster for days", () => {
    world.pod("a", bound(NOON - MINUTE, NOON));
    world.pod("later", { seenAtMillis: NOON + 3 * 86_400_000, node: "gpu-b" });
    expect(world.holderTexts([gpu(0, labeled("a"))], NOON + 3 * 86_400_000)).toEqual(["none  of 0"]);
  });

  it("if the pod is known to hold on another node, by its name or by its UID", () => {
    world.pod("a", { node: "gpu-b" });
    expect(world.holderTexts([gpu(0, labeled("a"))])).toEqual(["none  of 0"]);
    expect(world.holderTexts([gpu(0, { ...labeled("old-name"), podUid: "uid-a" })])).toEqual(["none  of 0"]);
  });

  it("if that becomes known later", () => {
    const shape = shapeOf([gpu(0, labeled("a"))]);
    expect(world.holderTexts(shape)).toEqual(["label a of 1"]);
    world.pod("a", { node: "gpu-b" });
    expect(world.holderTexts(shape)).toEqual(["none  of 0"]);
    world.pod("a", { node: "gpu-b", ...bound(NOON - MINUTE, NOON - 1) });
    expect(world.holderTexts(shape)).toEqual(["label a of 1"]);
  });

  it("if it is the exporter's own label, with any other holder of the GPU", () => {
    world.pod("dcgm-exporter-x7k2p", { asks: [] });
    world.pod("a");
    expect(world.holderTexts([gpu(0, labeled("dcgm-exporter-x7k2p"))])).toEqual(["node a/uid-a of 1"]);
  });

  it("if the sample is older than the pod of this name: it was another pod, whose UID is unknown", () => {
    world.pod("web-0", bound(NOON));
    const shape = shapeOf([gpu(0, labeled("web-0"))]);
    expect(world.holderTexts(shape, NOON - 1)).toEqual(["label web-0 of 1"]);
    expect(world.holderTexts(shape, NOON)).toEqual(["label web-0/uid-web-0 of 1"]);
  });

  it("if a name comes back with another UID: each sample has the pod of its time", () => {
    world.pod("web-0", { uid: "first", ...bound(NOON - MINUTE, NOON) });
    world.pod("web-0", { uid: "second", ...bound(NOON + 5_000) });
    const shape = shapeOf([gpu(0, labeled("web-0"))]);
    const at = [NOON - 1, NOON, NOON + 4_999, NOON + 5_000].map((time) => world.holderTexts(shape, time)[0]);
    expect(at).toEqual(["label web-0/first of 1", "none  of 0", "none  of 0", "label web-0/second of 1"]);
  });

  it("if it is missing in one scrape: its evidence holds for the pod's whole time", () => {
    world.pod("a", bound(NOON, NOON + MINUTE));
    const [labels, none] = [shapeOf([gpu(0, labeled("a")), gpu(1)]), shapeOf([gpu(0), gpu(1)])];
    expect(world.holderTexts(none, NOON)).toEqual(["node a/uid-a of 1", "node a/uid-a of 1"]);
    expect(world.holderTexts(labels, NOON + 30_000)).toEqual(["label a/uid-a of 1", "none  of 0"]);
    expect(world.holderTexts(none, NOON + 45_000)).toEqual(["label a/uid-a of 1", "none  of 0"]);
    expect(world.holderTexts(none, NOON)).toEqual(["label a/uid-a of 1", "none  of 0"]);
    expect(world.holderTexts(none, NOON + MINUTE)).toEqual(["none  of 0", "none  of 0"]);
  });

  it("if labels contradict each other: on more devices than the pod requests they prove nothing", () => {
    world.pod("a");
    expect(world.holderTexts([gpu(0, labeled("a")), gpu(1)])).toEqual(["label a/uid-a of 1", "none  of 0"]);
    expect(world.holderTexts([gpu(0), gpu(1, labeled("a"))])).toEqual(["node a/uid-a of 1", "node a/uid-a of 1"]);
    expect(world.holderTexts([gpu(0, labeled("a")), gpu(1)])).toEqual(["node a/uid-a of 1", "node a/uid-a of 1"]);
  });

  it("if the end of the earlier pod is still unknown: a GPU that is not shared has one holder, the later one", () => {
    world.pod("before", bound(NOON - MINUTE));
    world.pod("after", bound(NOON));
    world.join([gpu(0, labeled("before"))]);
    expect(world.holderTexts([gpu(0, labeled("after"))])).toEqual(["label after/uid-after of 1"]);
    expect(world.holderTexts([gpu(0)])).toEqual(["label after/uid-after of 1"]);
    expect(world.holderTexts([gpu(0, labeled("before"))])).toEqual(["label before/uid-before of 1"]);
  });
});

describe("the evidence of labels", () => {
  it("does not depend on the order of the scrapes", () => {
    const rows = ["a", "b", ""].flatMap((first) =>
      ["a", "b", ""].map((second) => [first, second].map((pod, i) => gpu(i, pod === "" ? {} : labeled(pod)))),
    );
    const shapes = rows.map((devices) => shapeOf(devices));
    fc.assert(
      fc.property(fc.subarray(shapes, { minLength: 1 }), fc.infiniteStream(fc.nat()), (some, order) => {
        const results = [
          some,
          some
            .map((shape) => ({ shape, key: order.next().value as number }))
            .toSorted((x, y) => x.key - y.key)
            .map(({ shape }) => shape),
        ].map((scrapes) => {
          const one = joinWorld();
          one.pod("a");
          one.pod("b", { asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 2 }] });
          for (const shape of scrapes) one.join(shape);
          return shapes.slice(-1).map((shape) => one.holderTexts(shape));
        });
        expect(results[1]).toEqual(results[0]);
      }),
    );
  });
});
