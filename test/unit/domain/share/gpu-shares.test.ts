import { describe, expect, it } from "vitest";
import type { Claim, Held, ShareMeasures } from "../../../../domain/share/claim.ts";
import { gpuShares } from "../../../../domain/share/gpu-shares.ts";
import type { GpuAt, GpuLayout } from "../../../../domain/share/layout.ts";
import { textOf } from "./fraction-text.ts";

const DEFAULT: ShareMeasures = { migShare: "max", sharedBy: "replica" };
const gpu = (layout: GpuLayout): GpuAt => ({ model: "NVIDIA-A100-SXM4-40GB", memoryMiB: 40_960, layout });
const mig = (...profiles: readonly string[]): GpuAt =>
  gpu({ kind: "mig", instances: profiles.map((profile, index) => ({ id: `${index}`, profile })) });
const claim = (holder: string, held: Held): Claim => ({ holder, held });

/** `raw` is present only if it differs from the share. */
function shown(of: GpuAt, claims: readonly Claim[], measures: Partial<ShareMeasures> = {}) {
  const { held, free, isScaled, findings } = gpuShares(of, claims, { ...DEFAULT, ...measures });
  expect(held.map((each) => each.claim)).toEqual(claims);
  const pairs = held.map(({ raw, share }) => [textOf(raw), textOf(share)] as const);
  return {
    shares: pairs.map(([raw, share]) => (raw === share ? share : `${raw} -> ${share}`)),
    free: Object.fromEntries(
      Object.entries(free).flatMap(([name, share]) => (share.num === 0n ? [] : [[name, textOf(share)]])),
    ),
    ...(isScaled ? { isScaled } : {}),
    ...(findings.length === 0 ? {} : { findings }),
  };
}

describe("a whole GPU", () => {
  it("belongs to its holder, or is unallocated", () => {
    expect(shown(gpu({ kind: "whole" }), [claim("a", { what: "whole" })])).toEqual({ shares: ["1"], free: {} });
    expect(shown(gpu({ kind: "whole" }), [])).toEqual({ shares: [], free: { unallocated: "1" } });
  });

  it("with a DRA claim that is reserved for 3 pods has a share of 1/3 for each", () => {
    const claims = ["a", "b"].map((holder) => claim(holder, { what: "whole", reservedFor: 3 }));
    expect(shown(gpu({ kind: "whole" }), claims)).toEqual({ shares: ["1/3", "1/3"], free: { unallocated: "1/3" } });
  });

  it("with two holders is divided between them, and both the raw and the divided values are shown", () => {
    const claims = [claim("a", { what: "whole" }), claim("b", { what: "whole" })];
    expect(shown(gpu({ kind: "whole" }), claims)).toEqual({
      shares: ["1 -> 1/2", "1 -> 1/2"],
      free: {},
      isScaled: true,
    });
  });

  it("adds the claims of several regimes: a HAMi pod beside a fraction", () => {
    // max(30 %, 10,240/40,960) = 3/10; 0.45 = 9/20; 1 − 6/20 − 9/20 = 5/20.
    const claims = [
      claim("hami", { what: "vgpu", memoryMiB: 10_240, coresPercent: 30 }),
      claim("kai", { what: "fraction", ppm: 450_000 }),
    ];
    expect(shown(gpu({ kind: "whole" }), claims)).toEqual({ shares: ["3/10", "9/20"], free: { unallocated: "1/4" } });
  });

  it("divides shares that add up to more than 1 by their sum", () => {
    // 3/4 + 1/2 = 5/4. 3/4 ÷ 5/4 = 3/5; 1/2 ÷ 5/4 = 2/5.
    const claims = [claim("a", { what: "fraction", ppm: 750_000 }), claim("b", { what: "vgpu", memoryMiB: 20_480 })];
    expect(shown(gpu({ kind: "whole" }), claims)).toEqual({
      shares: ["3/4 -> 3/5", "1/2 -> 2/5"],
      free: {},
      isScaled: true,
    });
  });

  it("has notes for assumptions about its memory", () => {
    const claims = [claim("a", { what: "fraction", memoryMiB: 4096 })];
    const findings = (what: string) => [{ what, of: "a", assumed: true }];
    expect(shown({ model: "NVIDIA-A100-SXM4-40GB", layout: { kind: "whole" } }, claims)).toEqual({
      shares: ["1/10"],
      free: { unallocated: "9/10" },
      findings: findings("gpu-memory-nominal"),
    });
    expect(shown({ layout: { kind: "whole" } }, claims)).toEqual({
      shares: ["1"],
      free: {},
      findings: findings("gpu-memory-unknown"),
    });
  });
});

describe("a GPU in MIG mode", () => {
  it("splits into holders, free instances, and a part in which no profile fits", () => {
    // 3g 1/2 + 3g 1/2 by max; by compute 3/7 each, and 1/7 is stranded.
    const claims = [claim("a", { what: "instance", instance: "0" })];
    expect(shown(mig("3g.20gb", "3g.20gb"), claims)).toEqual({ shares: ["1/2"], free: { unallocated: "1/2" } });
    expect(shown(mig("3g.20gb", "3g.20gb"), claims, { migShare: "compute" })).toEqual({
      shares: ["3/7"],
      free: { unallocated: "3/7", stranded: "1/7" },
    });
    expect(shown(mig("3g.20gb", "3g.20gb"), claims, { migShare: "memory" })).toEqual({
      shares: ["1/2"],
      free: { unallocated: "1/2" },
    });
  });

  it("has an unallocated remainder while one more profile fits", () => {
    // 2/7 + 1/7 = 3/7 created, of which 1/7 is free; 4/7 is left, and a 4g fits: 1/7 + 4/7 = 5/7.
    const claims = [claim("a", { what: "instance", instance: "0" })];
    expect(shown(mig("2g.10gb", "1g.5gb"), claims)).toEqual({ shares: ["2/7"], free: { unallocated: "5/7" } });
  });

  it("divides instances that are more than the GPU by their sum", () => {
    // 4/7 + 1/4 + 1/4 = 15/14: see the test of the remainder. One 1g.10gb is free: 7/30.
    const claims = [claim("a", { what: "instance", instance: "0" }), claim("b", { what: "instance", instance: "2" })];
    expect(shown(mig("4g.20gb", "1g.10gb", "1g.10gb"), claims)).toEqual({
      shares: ["4/7 -> 8/15", "1/4 -> 7/30"],
      free: { unallocated: "7/30" },
      isScaled: true,
    });
  });

  it("divides an instance between the pods of its DRA claim", () => {
    // 1/2 ÷ 2 = 1/4 each; the other 3g is free.
    const claims = ["a", "b"].map((holder) => claim(holder, { what: "instance", instance: "1", reservedFor: 2 }));
    expect(shown(mig("3g.20gb", "3g.20gb"), claims)).toEqual({ shares: ["1/4", "1/4"], free: { unallocated: "1/2" } });
  });

  it("keeps two holders that both claim a whole instance within that instance", () => {
    const claims = ["a", "b"].map((holder) => claim(holder, { what: "instance", instance: "0" }));
    expect(shown(mig("2g.10gb", "3g.20gb"), claims)).toEqual({
      shares: ["2/7 -> 1/7", "2/7 -> 1/7"],
      // 1/2 of the free 3g, and 3/14 in which a 2g fits.
      free: { unallocated: "5/7" },
      isScaled: true,
    });
  });

  it("shares an instance by replicas in the same way as a GPU", () => {
    const layout = { kind: "mig", instances: [{ id: "5", profile: "4g.20gb", replicas: 4 }] } as const;
    const claims = [
      claim("a", { what: "replicas", count: 1, part: "5" }),
      claim("b", { what: "replicas", count: 2, part: "5" }),
    ];
    // 4/7 × 1/4 = 1/7, 4/7 × 2/4 = 2/7. By occupant 4/7 × 1/2 each. 3/7 is left for a 3g.
    expect(shown(gpu(layout), claims)).toEqual({ shares: ["1/7", "2/7"], free: { unallocated: "4/7" } });
    expect(shown(gpu(layout), claims, { sharedBy: "occupant" })).toEqual({
      shares: ["2/7", "2/7"],
      free: { unallocated: "3/7" },
    });
  });

  it("counts several compute instances of one GPU instance once", () => {
    // 4/7, where three of them would be 12/7.
    const instances = ["1c.4g.20gb", "1c.4g.20gb", "2c.4g.20gb"].map((profile) => ({ id: "1", profile }));
    const claims = [claim("a", { what: "instance", instance: "1" })];
    expect(shown(gpu({ kind: "mig", instances }), claims)).toEqual({ shares: ["4/7"], free: { unallocated: "3/7" } });
  });

  it("is unavailable without instances", () => {
    expect(shown(mig(), [])).toEqual({ shares: [], free: { unavailable: "1" } });
  });

  it("gives nothing to the holder of a removed instance", () => {
    const findings = [{ what: "no-such-part", of: "a", assumed: false }];
    const claims = [claim("a", { what: "instance", instance: "7" })];
    expect(shown(mig(), claims)).toEqual({ shares: ["0"], free: { unavailable: "1" }, findings });
    expect(shown(mig("7g.40gb"), claims)).toEqual({ shares: ["0"], free: { unallocated: "1" }, findings });
  });

  it("gives a holder of the whole GPU the unallocated part before the stranded part", () => {
    // By compute 3/7 each, 1/7 stranded. a holds 3/7; b's half leaves 1 − 6/14 − 7/14 = 1/14, less than the stranded part.
    const claims = [claim("a", { what: "instance", instance: "0" }), claim("b", { what: "fraction", ppm: 500_000 })];
    expect(shown(mig("3g.20gb", "3g.20gb"), claims, { migShare: "compute" })).toEqual({
      shares: ["3/7", "1/2"],
      free: { stranded: "1/14" },
    });
  });

  it("divides claims of its instances and claims of the whole GPU by one sum", () => {
    // 1/2 + 1 + 1 = 5/2. 1/2 ÷ 5/2 = 1/5; 1 ÷ 5/2 = 2/5.
    const claims = [
      claim("a", { what: "instance", instance: "0" }),
      claim("b", { what: "whole" }),
      claim("c", { what: "whole" }),
    ];
    expect(shown(mig("3g.20gb"), claims)).toEqual({
      shares: ["1/2 -> 1/5", "1 -> 2/5", "1 -> 2/5"],
      free: {},
      isScaled: true,
    });
  });

  it("has notes for assumptions about an unknown model or profile", () => {
    const instances = [{ id: "3", profile: "1g.16gb" }, { id: "4" }];
    expect(shown({ model: "NVIDIA A100-SXM-64GB", layout: { kind: "mig", instances } }, [])).toEqual({
      shares: [],
      free: { unallocated: "1" },
      findings: [
        { what: "mig-model", of: "3", assumed: true },
        { what: "mig-profile-unreadable", of: "4", assumed: true },
      ],
    });
  });
});

describe("a GPU that is shared as 4 replicas", () => {
  const shared = gpu({ kind: "shared", replicas: 4 });
  const pods = [
    claim("a", { what: "replicas", count: 1, activity: 300n }),
    claim("b", { what: "replicas", count: 1, activity: 100n }),
  ];

  it("leaves empty replicas unallocated by replica, but not by occupant and usage", () => {
    expect(shown(shared, pods)).toEqual({ shares: ["1/4", "1/4"], free: { unallocated: "1/2" } });
    expect(shown(shared, pods, { sharedBy: "occupant" })).toEqual({ shares: ["1/2", "1/2"], free: {} });
    expect(shown(shared, pods, { sharedBy: "usage" })).toEqual({ shares: ["3/4", "1/4"], free: {} });
    expect(shown(shared, [], { sharedBy: "occupant" })).toEqual({ shares: [], free: { unallocated: "1" } });
  });

  it("divides the claims by their sum if they exceed the replicas", () => {
    // 3/4 + 2/4 = 5/4: 3/5 and 2/5.
    const claims = [claim("a", { what: "replicas", count: 3 }), claim("b", { what: "replicas", count: 2 })];
    expect(shown(shared, claims)).toEqual({ shares: ["3/4 -> 3/5", "1/2 -> 2/5"], free: {}, isScaled: true });
  });

  it("counts pods by the policy only if the GPU is shared: whole GPUs are replicas of 1", () => {
    expect(shown(gpu({ kind: "whole" }), pods, { sharedBy: "usage" })).toEqual({
      shares: ["1 -> 1/2", "1 -> 1/2"],
      free: {},
      isScaled: true,
    });
  });

  it("gives a common holder its part of the set's replicas on this GPU, and counts it by occupant as that part of a pod", () => {
    // 2 of 6 members, of which 3 are here: one replica on average.
    const claims = [claim("a", { what: "common", count: 2, setSize: 6, members: 3 })];
    expect(shown(shared, claims)).toEqual({ shares: ["1/4"], free: { unallocated: "3/4" } });
    expect(shown(shared, claims, { sharedBy: "occupant" })).toEqual({ shares: ["1"], free: {} });
    // 1 of 6 members, 2 of them on this GPU: a third of a pod, beside a pod that is on it. By usage the same, because the activity is unknown.
    const beside = [
      claim("a", { what: "common", count: 1, setSize: 6, members: 2 }),
      claim("b", { what: "replicas", count: 2, activity: 5n }),
    ];
    expect(shown(shared, beside)).toEqual({ shares: ["1/12", "1/2"], free: { unallocated: "5/12" } });
    for (const sharedBy of ["occupant", "usage"] as const)
      expect(shown(shared, beside, { sharedBy })).toEqual({ shares: ["1/4", "3/4"], free: {} });
  });

  it("counts common holders as pods on it if their whole set is on it", () => {
    const claims = [
      claim("a", { what: "replicas", count: 1 }),
      claim("b", { what: "common", count: 1, setSize: 3, members: 3 }),
      claim("c", { what: "common", count: 1, setSize: 3, members: 3 }),
    ];
    expect(shown(shared, claims)).toEqual({ shares: ["1/4", "1/4", "1/4"], free: { unallocated: "1/4" } });
    expect(shown(shared, claims, { sharedBy: "occupant" })).toEqual({ shares: ["1/3", "1/3", "1/3"], free: {} });
  });
});

describe("a GPU of 4 partitions", () => {
  const partitioned: GpuAt = { model: "AMD Instinct MI300X", layout: { kind: "partitions", count: 4 } };

  it("gives 1/4 for each, and the free ones are unallocated", () => {
    const claims = ["0", "3"].map((partition) => claim(`pod-${partition}`, { what: "partition", partition }));
    expect(shown(partitioned, claims)).toEqual({ shares: ["1/4", "1/4"], free: { unallocated: "1/2" } });
  });

  it("keeps two holders that claim one partition within it, and 5 partitions of 4 within the GPU", () => {
    const two = ["a", "b"].map((holder) => claim(holder, { what: "partition", partition: "1" }));
    expect(shown(partitioned, two)).toMatchObject({
      shares: ["1/4 -> 1/8", "1/4 -> 1/8"],
      free: { unallocated: "3/4" },
    });
    const five = ["0", "1", "2", "3", "4"].map((partition) => claim(partition, { what: "partition", partition }));
    expect(shown(partitioned, five)).toMatchObject({ shares: Array.from({ length: 5 }, () => "1/4 -> 1/5"), free: {} });
  });
});
