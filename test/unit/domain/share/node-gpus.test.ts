import { describe, expect, it } from "vitest";
import type { NodeGpus } from "../../../../domain/inventory.ts";
import { decideCount, strongestCount, withShown } from "../../../../domain/share/node-gpus.ts";

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
  it("is from the strongest evidence, and names the strongest evidence that contradicts it", () => {
    expect(
      decideCount([
        { by: "capacity", count: 32 },
        { by: "label", count: 8 },
        { by: "instance-type", count: 4 },
      ]),
    ).toEqual({ taken: { by: "label", count: 8 }, other: { by: "instance-type", count: 4 } });
  });

  it("is not contradicted by a guess, or by evidence without a count", () => {
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
  it("is the highest count of the strongest evidence: counts from before a driver published devices do not matter", () => {
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

describe("the number of GPUs that an exporter shows", () => {
  it.each<readonly [string, Partial<NodeGpus>, number, Partial<NodeGpus>]>([
    ["is less than the count of a label: the exporter has lost GPUs", { offered: 8 }, 7, {}],
    [
      "is more than the count of a label",
      { count: 4 },
      6,
      { count: 6, countedBy: "samples", otherCount: { by: "label", count: 4 } },
    ],
    [
      "is the number that was taken for replicas of fewer GPUs",
      { count: 1, offered: 2, replicas: 2, sharing: "time-slicing" },
      2,
      { count: 2, replicas: 1, sharing: "none", countedBy: "samples", otherCount: { by: "label", count: 1 } },
    ],
    [
      "is the count if the capacity is a guess; the rest are replicas",
      { count: 8, countedBy: "capacity", offered: 8 },
      2,
      { count: 2, replicas: 4, sharing: "time-slicing", countedBy: "samples" },
    ],
    ["is the whole capacity", { count: 2, countedBy: "capacity", offered: 2 }, 2, { count: 2, countedBy: "samples" }],
    [
      "does not divide the offered number: a GPU is missing in the page",
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

  it("is added to the last of several kinds, and lowers no count", () => {
    const kinds = [kind({ vendor: "amd", count: 5 }), kind({ vendor: "amd", count: 3, partitions: 8 })];
    expect(withShown(kinds, 9).map(({ count }) => count)).toEqual([5, 4]);
    expect(withShown(kinds, 6)).toEqual(kinds);
  });

  it("changes nothing if it is 0, or if the node has no kind of GPU", () => {
    const gpus = [kind({ countedBy: "capacity", offered: 8 })];
    expect(withShown(gpus, 0)).toBe(gpus);
    expect(withShown([], 4)).toEqual([]);
  });
});
