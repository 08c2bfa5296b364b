import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allocate, type Allocation } from "../../../../domain/allocation/allocate.ts";
import { NO_ENERGY, type Measured, type UsageClaim, type UsageSegment } from "../../../../domain/allocation/segment.ts";
import { add, compare, exactDecimal, rational, ZERO, type Rational } from "../../../../domain/exact/rational.ts";
import type { Held, ShareMeasures } from "../../../../domain/share/claim.ts";
import { rounds } from "../../../support/rounds.ts";
import { HOUR_MILLIS as HOUR } from "../../../../domain/time.ts";

const DEFAULT: ShareMeasures = { migShare: "max", sharedBy: "replica" };
const L4 = { model: "NVIDIA L4", memoryMiB: 24_576, layout: { kind: "whole" } } as const;
const A100 = "NVIDIA A100-SXM4-40GB";
/** A measurement with this covered and this active part of an hour. The activity is 1 in the active part. */
function measured(covered: number, active: number, given: Partial<Measured> = {}): Measured {
  const activity = BigInt(Math.round(active * HOUR)) * 1_000_000n;
  return {
    coveredMillis: covered * HOUR,
    busyMillis: active * HOUR,
    activityPpmMillis: activity,
    activityAtClaimsPpmMillis: activity,
    ...given,
  };
}

function claim(holder: string, held: Held, of: Measured, stage: UsageClaim["stage"] = "running"): UsageClaim {
  return { claim: { holder, held }, stage, measured: of };
}

function hour(claims: readonly UsageClaim[], given: Partial<UsageSegment> = {}): UsageSegment {
  return {
    fromMillis: 0,
    untilMillis: HOUR,
    gpu: L4,
    unavailableBecause: "",
    isCordoned: false,
    energy: NO_ENERGY,
    busyMillis: Math.max(0, ...claims.map((each) => each.measured.busyMillis)),
    claims,
    ...given,
  };
}

/** GPU-hours of each state that has any, by holder; those of the free parts under `free`. */
function hours({ held, free }: Allocation): Record<string, Record<string, string>> {
  const shown = (states: Readonly<Record<string, Rational>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(states)
        .filter(([, amount]) => compare(amount, ZERO) !== 0)
        .map(([state, { num, den }]) => [state, exactDecimal(rational(num, den * BigInt(HOUR)), 9) ?? `${num}/${den}`]),
    );
  return { ...Object.fromEntries(held.map(({ claim: of, states }) => [of.holder, shown(states)])), free: shown(free) };
}

describe("a segment of a GPU with one holder", () => {
  it("is active for the measured active time, idle for the other measured time, and unobserved where no sample covers it", () => {
    // Three quarters of the hour are covered; a quarter of the hour was fully active.
    const { held } = allocate(hour([claim("a", { what: "whole" }, measured(0.75, 0.25))]), DEFAULT);
    expect(hours({ held, free: noFree(), findings: [] })["a"]).toEqual({
      unobserved: "0.25",
      active: "0.25",
      idle: "0.5",
    });
  });

  it("is starting or waiting as a whole, independently of the measurements", () => {
    const starting = allocate(hour([claim("a", { what: "whole" }, measured(1, 0.5), "starting")]), DEFAULT);
    expect(hours(starting)).toEqual({ a: { starting: "1" }, free: {} });
    const waiting = allocate(hour([claim("a", { what: "whole" }, measured(1, 0.5), "waiting")]), DEFAULT);
    expect(hours(waiting)).toEqual({ a: { waiting: "1" }, free: {} });
  });

  it("is unavailable for the time in which the GPU cannot be used and is not active, and this state comes before all others", () => {
    // Active for a tenth of the hour at full speed: that tenth does not count as unavailable.
    const down = { unavailableBecause: "xid-79" };
    const running = allocate(hour([claim("a", { what: "whole" }, measured(0.5, 0.1))], down), DEFAULT);
    expect(hours(running)["a"]).toEqual({ unavailable: "0.9", active: "0.1" });
    const starting = allocate(hour([claim("a", { what: "whole" }, measured(0.5, 0), "starting")], down), DEFAULT);
    expect(hours(starting)["a"]).toEqual({ unavailable: "1" });
  });

  it("is the same when the GPU is cordoned", () => {
    const cordoned = allocate(hour([claim("a", { what: "whole" }, measured(1, 1))], { isCordoned: true }), DEFAULT);
    expect(hours(cordoned)).toEqual({ a: { active: "1" }, free: {} });
  });
});

describe("the free part of a GPU", () => {
  it("is unallocated, or unavailable if the GPU cannot be used or is cordoned", () => {
    expect(hours(allocate(hour([]), DEFAULT))).toEqual({ free: { unallocated: "1" } });
    expect(hours(allocate(hour([], { isCordoned: true }), DEFAULT))).toEqual({ free: { unavailable: "1" } });
    const failing = { unavailableBecause: "not-ready", busyMillis: HOUR / 4 };
    expect(hours(allocate(hour([], failing), DEFAULT))).toEqual({ free: { unavailable: "0.75", unallocated: "0.25" } });
  });

  it("is stranded where no further MIG instance fits", () => {
    // 3g.20gb has 3 of 7 compute and 4 of 8 memory slices: 1/2 by the larger. In the other half 4g.20gb would fit.
    const layout = { kind: "mig", instances: [{ id: "1", profile: "3g.20gb" }] } as const;
    const gpu = { model: A100, layout };
    const one = claim("a", { what: "instance", instance: "1" }, measured(1, 0.5));
    expect(hours(allocate(hour([one], { gpu }), DEFAULT))).toEqual({
      a: { active: "0.25", idle: "0.25" },
      free: { unallocated: "0.5" },
    });
    // Two of them have all of the memory and 6/7 of the compute: by compute 1/7 is left, which has room for no profile.
    const full = { kind: "mig", instances: ["1", "2"].map((id) => ({ id, profile: "3g.20gb" })) } as const;
    const { free } = allocate(hour([], { gpu: { model: A100, layout: full } }), { ...DEFAULT, migShare: "compute" });
    expect(compare(free.stranded, rational(HOUR, 7))).toBe(0);
    expect(compare(free.unallocated, rational(6 * HOUR, 7))).toBe(0);
  });
});

describe("a GPU with several holders", () => {
  const shared = { ...L4, layout: { kind: "shared", replicas: 4 } } as const;
  const replica: Held = { what: "replicas", count: 1 };

  it("has one activity, which is divided by the held shares, each part at most as large as the share", () => {
    // Two of four replicas are held: half of the GPU. It was active at 0.8 all the time; at most half of the GPU counts.
    const atClaims = { activityAtClaimsPpmMillis: BigInt(HOUR) * 500_000n };
    const all = { ...measured(1, 1), activityPpmMillis: BigInt(HOUR) * 800_000n, ...atClaims };
    const gpu = shared;
    const segment = hour([claim("a", replica, all), claim("b", replica, all)], { gpu });
    expect(hours(allocate(segment, DEFAULT))).toEqual({
      a: { active: "0.25" },
      b: { active: "0.25" },
      free: { unallocated: "0.5" },
    });
    // As occupants, each holder has half of the GPU, and of the 0.8 each is active 0.4.
    expect(hours(allocate(segment, { ...DEFAULT, sharedBy: "occupant" }))).toEqual({
      a: { active: "0.4", idle: "0.1" },
      b: { active: "0.4", idle: "0.1" },
      free: {},
    });
  });

  it("has each holder's own activity if the exporter reports the activity of processes", () => {
    const own = (claimed: number, occupied: number, used: number): Measured =>
      measured(1, 1, {
        process: {
          atClaimPpmMillis: BigInt(HOUR * claimed) * 1_000_000n,
          atOccupantPpmMillis: BigInt(HOUR * occupied) * 1_000_000n,
          atUsagePpmMillis: BigInt(HOUR * used) * 1_000_000n,
        },
      });
    const claims = [claim("a", replica, own(0.25, 0.4, 0.4)), claim("b", replica, own(0.1, 0.1, 0.1))];
    expect(hours(allocate(hour(claims, { gpu: shared }), DEFAULT))).toEqual({
      a: { active: "0.25" },
      b: { active: "0.1", idle: "0.15" },
      free: { unallocated: "0.5" },
    });
    expect(hours(allocate(hour(claims, { gpu: shared }), { ...DEFAULT, sharedBy: "occupant" }))).toEqual({
      a: { active: "0.4", idle: "0.1" },
      b: { active: "0.1", idle: "0.4" },
      free: {},
    });
  });

  it("gives a pod half of everything if its claim is reserved for two pods", () => {
    const half: Held = { what: "whole", reservedFor: 2 };
    const claims = [claim("a", half, measured(1, 0.5)), claim("b", half, measured(1, 0.5))];
    expect(hours(allocate(hour(claims), DEFAULT))).toEqual({
      a: { active: "0.25", idle: "0.25" },
      b: { active: "0.25", idle: "0.25" },
      free: {},
    });
  });
});

const held: fc.Arbitrary<Held> = fc.oneof(
  fc.constant<Held>({ what: "whole" }),
  fc.record({ what: fc.constant("replicas" as const), count: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ what: fc.constant("instance" as const), instance: fc.constantFrom("1", "2", "9") }),
  fc.record({ what: fc.constant("fraction" as const), ppm: fc.integer({ min: 1, max: 1_000_000 }) }),
  fc.record({
    what: fc.constant("vgpu" as const),
    memoryMiB: fc.integer({ min: 1, max: 30_000 }),
    coresPercent: fc.integer({ min: 0, max: 100 }),
  }),
  fc
    .record({ count: fc.integer({ min: 1, max: 4 }), setSize: fc.integer({ min: 1, max: 8 }) })
    .map((common): Held => ({ what: "common", members: 1, ...common })),
);
const part = fc.double({ min: 0, max: 1, noNaN: true });
const measurement: fc.Arbitrary<Measured> = fc.tuple(part, part, part).map(([covered, busy, activity]) => {
  const coveredMillis = Math.floor(covered * HOUR);
  const busyMillis = Math.floor(busy * coveredMillis);
  const activityPpmMillis = BigInt(Math.floor(activity * busyMillis)) * 1_000_000n;
  return { coveredMillis, busyMillis, activityPpmMillis, activityAtClaimsPpmMillis: activityPpmMillis };
});
const layouts = fc.constantFrom(
  { kind: "whole" } as const,
  { kind: "shared", replicas: 4 } as const,
  {
    kind: "mig",
    instances: [
      { id: "1", profile: "1g.5gb" },
      { id: "2", profile: "3g.20gb" },
    ],
  } as const,
  { kind: "mig", instances: [] } as const,
  { kind: "partitions", count: 8 } as const,
);

it("the states of a segment sum exactly to its length, and none is negative, for any holders, measurements and faults", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(held, measurement, fc.constantFrom("starting", "waiting", "running")), { maxLength: 6 }),
      layouts,
      fc.constantFrom("", "xid-79"),
      fc.boolean(),
      fc.constantFrom("max", "compute", "memory"),
      fc.constantFrom("replica", "occupant", "usage"),
      (claims, layout, unavailableBecause, isCordoned, migShare, sharedBy) => {
        const segment = hour(
          claims.map(([of, what, stage], index) => claim(`pod-${index}`, of, what, stage as "running")),
          { gpu: { model: A100, layout }, unavailableBecause, isCordoned },
        );
        const allocation = allocate(segment, {
          migShare: migShare as "max",
          sharedBy: sharedBy as "replica",
        });
        const amounts = [
          ...allocation.held.flatMap(({ states }) => Object.values(states)),
          ...Object.values(allocation.free),
        ];
        expect(amounts.every((amount) => compare(amount, ZERO) >= 0)).toBe(true);
        expect(compare(amounts.reduce(add, ZERO), rational(HOUR))).toBe(0);
      },
    ),
    { numRuns: rounds(500) },
  );
});

function noFree(): Allocation["free"] {
  return { unavailable: ZERO, stranded: ZERO, unallocated: ZERO };
}
