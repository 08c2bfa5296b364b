import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rational } from "../../../../domain/exact/rational.ts";
import { heldInCommon, type CommonDevice, type CommonHolder } from "../../../../domain/share/common.ts";
import { gpuShares } from "../../../../domain/share/gpu-shares.ts";
import type { GpuLayout } from "../../../../domain/share/layout.ts";
import { sumOf } from "../../../../domain/share/scale.ts";
import { textOf } from "./fraction-text.ts";

const DEFAULT = { migShare: "max", sharedBy: "replica" } as const;
const gpus = (count: number, changed: Readonly<Record<number, Partial<CommonDevice>>> = {}): readonly CommonDevice[] =>
  Array.from({ length: count }, (_, index) => ({
    gpu: `gpu-${index}`,
    members: 1,
    taken: 0,
    isUnavailable: false,
    ...changed[index],
  }));

/** For each GPU: the share of each holder, and the unallocated share. */
function shown(
  devices: readonly CommonDevice[],
  holders: readonly CommonHolder[],
  layout: GpuLayout = { kind: "whole" },
) {
  const { claims, ...set } = heldInCommon(devices, holders);
  const model = "NVIDIA-A100-SXM4-40GB";
  const shares = [...claims].map(([gpu, list]) => {
    const { held, free } = gpuShares({ model, layout }, list, DEFAULT);
    return [
      gpu,
      held.map(({ claim, share }) => `${claim.holder} ${textOf(share)}`).join(", "),
      textOf(free.unallocated),
    ];
  });
  return { ...set, shares };
}

describe("GPUs that are held in common", () => {
  it("have a share of count ÷ size of the set for each holder, and the rest is unallocated", () => {
    // 4 GPUs; a holds 1 of them, b holds 2: of every GPU 1/4 and 2/4, and 1/4 is unallocated.
    const holders = [
      { holder: "a", count: 1 },
      { holder: "b", count: 2 },
    ];
    expect(shown(gpus(4), holders)).toEqual({
      size: 4,
      isWidened: false,
      shares: [0, 1, 2, 3].map((index) => [`gpu-${index}`, "a 1/4, b 1/2", "1/4"]),
    });
  });

  it("do not include GPUs with another known holder and unavailable GPUs", () => {
    const devices = gpus(4, { 0: { taken: 1 }, 2: { isUnavailable: true } });
    expect(shown(devices, [{ holder: "a", count: 1 }])).toEqual({
      size: 2,
      isWidened: false,
      shares: [
        ["gpu-1", "a 1/2", "1/2"],
        ["gpu-3", "a 1/2", "1/2"],
      ],
    });
  });

  it("include the unavailable GPUs if more are held than remain", () => {
    const devices = gpus(4, { 0: { taken: 1 }, 2: { isUnavailable: true } });
    expect(shown(devices, [{ holder: "a", count: 3 }])).toEqual({
      size: 3,
      isWidened: true,
      shares: ["gpu-1", "gpu-2", "gpu-3"].map((gpu) => [gpu, "a 1", "0"]),
    });
  });

  it("have scaled shares if more are held than exist", () => {
    // 2 GPUs; a has 2/2 and b 1/2 of each: 3/2. 1 ÷ 3/2 = 2/3, 1/2 ÷ 3/2 = 1/3.
    const holders = [
      { holder: "a", count: 2 },
      { holder: "b", count: 1 },
    ];
    expect(shown(gpus(2), holders)).toEqual({
      size: 2,
      isWidened: false,
      shares: ["gpu-0", "gpu-1"].map((gpu) => [gpu, "a 2/3, b 1/3", "0"]),
    });
  });

  it("have no shares if all of them have another known holder", () => {
    expect(shown(gpus(1, { 0: { taken: 1 } }), [{ holder: "a", count: 1 }])).toEqual({
      size: 0,
      isWidened: false,
      shares: [],
    });
  });
});

describe("devices held in common", () => {
  it("can be replicas: each GPU has as many members as replicas without another holder", () => {
    // 2 GPUs × 4 replicas, 3 of the second with another known holder: 5 members. a has 1/5 of each: 4/5 × 1/4 of the first ...
    const devices = gpus(2, { 0: { members: 4 }, 1: { members: 4, taken: 3 } });
    const holders = [{ holder: "a", count: 1 }];
    // ... which is 1/5, and 1/5 × 1/4 = 1/20 of the second: 1/4 in total, one replica.
    expect(shown(devices, holders, { kind: "shared", replicas: 4 }).shares).toEqual([
      ["gpu-0", "a 1/5", "4/5"],
      ["gpu-1", "a 1/20", "19/20"],
    ]);
  });

  it("can be instances: each instance is a member, also if one GPU has several", () => {
    const devices = ["1", "2"].map((part): CommonDevice => ({ ...gpus(1)[0]!, part }));
    const instances = ["1", "2"].map((id) => ({ id, profile: "3g.20gb" }));
    // 1/2 of each of two halves: 1/4 and 1/4.
    expect(shown(devices, [{ holder: "a", count: 1 }], { kind: "mig", instances }).shares).toEqual([
      ["gpu-0", "a 1/4, a 1/4", "1/2"],
    ]);
  });

  it("sum to the requested count, as long as there are enough", () => {
    const devices = fc.array(
      fc.record({ members: fc.integer({ min: 1, max: 4 }), taken: fc.nat(4), isUnavailable: fc.boolean() }),
      { minLength: 1, maxLength: 6 },
    );
    const counts = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(devices, counts, (list, asked) => {
        const named = list.map((device, index) => ({ ...device, gpu: `gpu-${index}` }));
        const holders = asked.map((count, index) => ({ holder: `pod-${index}`, count }));
        const total = asked.reduce((sum, count) => sum + count, 0);
        const free = named.reduce((sum, { members, taken }) => sum + Math.max(0, members - taken), 0);
        const { size, claims } = heldInCommon(named, holders);
        // In members: a GPU with 4 replicas has 4 members, so its shares count 4 times.
        const held = [...claims.values()].flat().map(({ held: { what, ...rest } }) => {
          if (what !== "common" || !("setSize" in rest)) throw new Error(`${what} is not held in common`);
          return rational(rest.count * rest.members, rest.setSize);
        });
        expect(textOf(sumOf(held))).toBe(free === 0 ? "0" : `${total}`);
        expect(size).toBeLessThanOrEqual(free);
        expect(total <= size || size === free).toBe(true);
      }),
    );
  });
});
