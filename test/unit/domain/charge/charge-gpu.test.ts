import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allocate } from "../../../../domain/allocation/allocate.ts";
import { NO_ENERGY, type UsageClaim, type UsageSegment } from "../../../../domain/allocation/segment.ts";
import { chargeGpu, type AllocatedSegment, type ChargeLine } from "../../../../domain/charge/charge-gpu.ts";
import { incurredIn, steadyAccrual } from "../../../../domain/exact/accrual.ts";
import { parseDecimal, rational, type Rational } from "../../../../domain/exact/rational.ts";
import { formatAmount, lastUnits, sum, type Carbon, type Money } from "../../../../domain/exact/units.ts";
import { rounds } from "../../../support/rounds.ts";
import { HOUR_MILLIS as HOUR } from "../../../../domain/time.ts";

const MEASURES = { migShare: "max", sharedBy: "replica" } as const;
const GPU_HOURS = steadyAccrual<"gpu-hour">(rational(1), 0);

function decimal(text: string): Rational {
  const parsed = parseDecimal(text);
  if ("error" in parsed) throw new Error(parsed.error);
  return parsed.value;
}

/** A piece of time with a price per hour, the same for all three kinds of cost. */
function piece(fromMillis: number, untilMillis: number, perHour: string) {
  const cost = incurredIn(steadyAccrual<"currency">(decimal(perHour), 0), fromMillis, untilMillis);
  return { fromMillis, untilMillis, costs: { list: cost, contracted: cost, effective: cost } };
}

function segment(fromMillis: number, untilMillis: number, claims: readonly UsageClaim[]): AllocatedSegment {
  const usage: UsageSegment = {
    fromMillis,
    untilMillis,
    gpu: { model: "NVIDIA L4", layout: { kind: "shared", replicas: 3 } },
    unavailableBecause: "",
    isCordoned: false,
    busyMillis: 0,
    energy: NO_ENERGY,
    claims,
  };
  return { fromMillis, untilMillis, allocation: allocate(usage, MEASURES) };
}

/** A replica that was covered for a time, and fully active for a part of it. */
function replica(holder: string, coveredMillis: number, activeMillis: number): UsageClaim {
  const activityPpmMillis = BigInt(activeMillis) * 1_000_000n;
  return {
    claim: { holder, held: { what: "replicas", count: 1 } },
    stage: "running",
    measured: {
      coveredMillis,
      busyMillis: activeMillis,
      activityPpmMillis,
      activityAtClaimsPpmMillis: activityPpmMillis / 3n,
      process: {
        atClaimPpmMillis: activityPpmMillis / 3n,
        atOccupantPpmMillis: activityPpmMillis,
        atUsagePpmMillis: activityPpmMillis,
      },
    },
  };
}

const shown = (lines: readonly ChargeLine[]): string[] =>
  lines.map(
    ({ claim, state, gpuHours, costs }) =>
      `${claim ?? "free"} ${state} ${formatAmount(gpuHours)} h ${costs === undefined ? "unpriced" : formatAmount(costs.effective)}`,
  );

describe("a GPU's hour", () => {
  it("is charged by holder and state, in GPU-hours and money", () => {
    // 3.60 an hour. One of three replicas is held for the second half: 1/3 of 0.5 h = 0.166… h; half of it covered and active.
    const half = HOUR / 2;
    const segments = [segment(0, half, []), segment(half, HOUR, [replica("a", half / 2, half / 2)])];
    expect(shown(chargeGpu(piece(0, HOUR, "3.60"), segments, GPU_HOURS))).toEqual([
      "free unallocated 0.5 h 1.8",
      "0 unobserved 0.083333334 h 0.3",
      "0 active 0.083333333 h 0.3",
      "free unallocated 0.333333333 h 1.2",
    ]);
  });

  it("has its quantity and no cost where it has no price", () => {
    const unpriced = { fromMillis: 0, untilMillis: HOUR, costs: undefined };
    expect(shown(chargeGpu(unpriced, [segment(0, HOUR, [])], GPU_HOURS))).toEqual(["free unallocated 1 h unpriced"]);
  });

  it("is split where a price changes within it, and the parts sum to the whole", () => {
    const cut = 1_234_567;
    const first = chargeGpu(piece(0, cut, "1.00"), [segment(0, cut, [replica("a", 10, 3)])], GPU_HOURS);
    const rest = chargeGpu(piece(cut, HOUR, "1.00"), [segment(cut, HOUR, [replica("a", 10, 3)])], GPU_HOURS);
    const cost = (lines: readonly ChargeLine[]): Money => sum(lines.map(({ costs }) => costs!.effective));
    expect(formatAmount(sum([cost(first), cost(rest)]))).toBe("1");
    expect(formatAmount(sum([...first, ...rest].map(({ gpuHours }) => gpuHours)))).toBe("1");
  });
});

describe("the energy of a GPU", () => {
  it("is divided like the GPU's time, including the free part, and is on no line where nothing was measured", () => {
    // Two of three replicas are held. One of them is active for half of its time: a sixth of the energy is active, a sixth idle; the others get a
    // third each.
    const half = HOUR / 2;
    const held = segment(0, half, [replica("a", half, half / 2), replica("b", 0, 0)]);
    const segments = [{ ...held, millijoules: 600n, carbon: lastUnits<"gram">(61n) }, segment(half, HOUR, [])];
    const lines = chargeGpu({ fromMillis: 0, untilMillis: HOUR, costs: undefined }, segments, GPU_HOURS);
    expect(lines.map(({ claim, state, millijoules, carbon }) => [claim, state, millijoules, carbon])).toEqual([
      [0, "active", 100n, 11n],
      [0, "idle", 100n, 10n],
      [1, "unobserved", 200n, 20n],
      [undefined, "unallocated", 200n, 20n],
      [undefined, "unallocated", undefined, undefined],
    ]);
  });

  it("costs the price of its power in every kind of cost, on a line of its own", () => {
    const power = lastUnits<"currency">(1001n);
    const priced = { ...piece(0, HOUR, "1.00"), power };
    const lines = chargeGpu(priced, [segment(0, HOUR, [replica("a", HOUR, HOUR)])], GPU_HOURS);
    expect(lines.map((line) => [line.claim, line.power, line.costs!.list])).toEqual([
      [0, 334n, 333_333_667n],
      [undefined, 667n, 666_667_334n],
    ]);
  });
});

it("the lines sum to the piece exactly, for any price, cuts and holders", () => {
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: HOUR - 1 }), { maxLength: 5 });
  const price = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 9n }), fc.constantFrom(0, 2, 4, 7)).map(([digits, point]) => {
    const text = String(digits).padStart(point + 1, "0");
    return point === 0 ? text : `${text.slice(0, -point)}.${text.slice(-point)}`;
  });
  const holders = fc.array(fc.tuple(fc.nat(1000), fc.nat(1000)), { maxLength: 4 });
  fc.assert(
    fc.property(
      cuts,
      price,
      fc.array(holders, { minLength: 6, maxLength: 6 }),
      fc.nat(),
      (inner, perHour, claims, some) => {
        const edges = [0, ...inner.toSorted((a, b) => a - b), HOUR];
        const segments = edges.slice(0, -1).map((from, index) => {
          const until = edges[index + 1]!;
          const cut = segment(
            from,
            until,
            claims[index]!.map(([covered, active], place) => {
              const coveredMillis = Math.floor(((until - from) * covered) / 1000);
              return replica(`pod-${place}`, coveredMillis, Math.floor((coveredMillis * active) / 1000));
            }),
          );
          return { ...cut, millijoules: BigInt(some % (until - from)), carbon: lastUnits<"gram">(BigInt(some) * 7n) };
        });
        const power = lastUnits<"currency">(BigInt(some));
        const whole = { ...piece(0, HOUR, perHour), power };
        const lines = chargeGpu(whole, segments, GPU_HOURS);
        expect(sum(lines.map(({ costs }) => costs!.effective))).toBe(whole.costs.effective + power);
        expect(sum(lines.map((line) => line.power!))).toBe(power);
        for (const cut of segments) {
          const own = lines.filter(({ fromMillis }) => fromMillis === cut.fromMillis);
          expect(own.reduce((total, { millijoules }) => total + millijoules!, 0n)).toBe(cut.millijoules);
          expect(sum<"gram">(own.map(({ carbon }): Carbon => carbon!))).toBe(cut.carbon);
        }
        expect(formatAmount(sum(lines.map(({ gpuHours }) => gpuHours)))).toBe("1");
      },
    ),
    { numRuns: rounds(300) },
  );
});
