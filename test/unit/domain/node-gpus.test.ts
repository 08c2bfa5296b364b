import { describe, expect, it } from "vitest";
import type { NodeGpus } from "../../../domain/inventory.ts";
import { decideCount, strongestCount, withShown } from "../../../domain/node-gpus.ts";

const kind = (given: Partial<NodeGpus>): NodeGpus => ({
  vendor: "nvidia",
  count: 8,
  countedBy: "label",
  replicas: 1,
  sharing: "none",
  mig: { strategy: "none", profiles: {} },
  ...given,
});

describe("the count of a node's GPUs", () => {
  it("is the strongest evidence's, and names the strongest other one that contradicts it", () => {
    expect(
      decideCount([
        { by: "capacity", count: 32 },
        { by: "label", count: 8 },
        { by: "instance-type", count: 4 },
      ]),
    ).toEqual({ taken: { by: "label", count: 8 }, other: { by: "instance-type", count: 4 } });
  });

  it("is contradicted by no guess, and by nothing that counts none", () => {
    expect(
      decideCount([
        { by: "slices", count: 2 },
        { by: "label", count: 0 },
        { by: "instances", count: 3 },
        { by: "capacity", count: 10 },
      ]),
    ).toEqual({ taken: { by: "slices", count: 2 }, other: undefined });
    expect(decideCount([{ by: "capacity", count: 0 }])).toBeUndefined();
  });
});

describe("the count of a machine over time", () => {
  it("is the highest of the strongest evidence: what was counted before a driver published devices does not matter", () => {
    expect(
      strongestCount([
        { by: "instance-type", count: 8 },
        { by: "slices", count: 2 },
        { by: "slices", count: 1 },
        { by: "label", count: 4 },
      ]),
    ).toEqual({ by: "slices", count: 2 });
    expect(strongestCount([{ by: "label", count: 0 }])).toBeUndefined();
  });
});

describe("what an exporter shows", () => {
  it.each<readonly [string, Partial<NodeGpus>, number, Partial<NodeGpus>]>([
    ["is less than what a label counts: the exporter has lost GPUs", { offered: 8 }, 7, {}],
    [
      "is more than what a label counts",
      { count: 4 },
      6,
      { count: 6, countedBy: "samples", otherCount: { by: "label", count: 4 } },
    ],
    [
      "is all that was taken for replicas of fewer GPUs",
      { count: 1, offered: 2, replicas: 2, sharing: "time-slicing" },
      2,
      { count: 2, replicas: 1, sharing: "none", countedBy: "samples", otherCount: { by: "label", count: 1 } },
    ],
    [
      "is the count where the capacity is a guess; the rest are replicas",
      { count: 8, countedBy: "capacity", offered: 8 },
      2,
      { count: 2, replicas: 4, sharing: "time-slicing", countedBy: "samples" },
    ],
    [
      "is all that the capacity offers",
      { count: 2, countedBy: "capacity", offered: 2 },
      2,
      { count: 2, countedBy: "samples" },
    ],
    [
      "does not divide what is offered: a GPU is silent",
      { count: 8, countedBy: "capacity", offered: 8 },
      7,
      { count: 8, replicas: 1 },
    ],
    [
      "is one GPU of AMD in partitions",
      { vendor: "amd", count: 8, countedBy: "capacity", offered: 8 },
      1,
      { count: 1, partitions: 8, replicas: 1, countedBy: "samples" },
    ],
    [
      "is one GPU whose 14 instances are 7, each offered twice",
      { count: 2, countedBy: "instances", mig: { strategy: "mixed", profiles: { "1g.10gb": 14 } } },
      1,
      {
        count: 1,
        countedBy: "samples",
        replicas: 2,
        sharing: "time-slicing",
        mig: { strategy: "mixed", profiles: { "1g.10gb": 7 } },
      },
    ],
    [
      "is more GPUs than the instances need",
      { count: 1, countedBy: "instances", mig: { strategy: "mixed", profiles: { "3g.40gb": 2 } } },
      2,
      { count: 2, replicas: 1, countedBy: "samples" },
    ],
  ])("%s", (_, given, shown, expected) => {
    expect(withShown([kind(given)], shown)).toEqual([kind({ ...given, ...expected })]);
  });

  it("adds to the last of several kinds, and takes nothing from them", () => {
    const kinds = [kind({ vendor: "amd", count: 5 }), kind({ vendor: "amd", count: 3, partitions: 8 })];
    expect(withShown(kinds, 9).map(({ count }) => count)).toEqual([5, 4]);
    expect(withShown(kinds, 6)).toEqual(kinds);
  });

  it("is nothing: the objects alone count", () => {
    const gpus = [kind({ countedBy: "capacity", offered: 8 })];
    expect(withShown(gpus, 0)).toBe(gpus);
    expect(withShown([], 4)).toEqual([]);
  });
});
