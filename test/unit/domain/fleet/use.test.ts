import { expect, it } from "vitest";
import { lastUnits } from "../../../../domain/exact/units.ts";
import { fleetUse, type FleetHours } from "../../../../domain/fleet/use.ts";

function hoursOf(given: Readonly<Partial<Record<keyof FleetHours, number>>>): FleetHours {
  const names = ["total", "held", "unavailable", "heldUnavailable", "starting", "waiting", "unused", "active"] as const;
  return Object.fromEntries(
    names.map((name) => [name, lastUnits<"gpu-hour">(BigInt(given[name] ?? 0))]),
  ) as unknown as FleetHours;
}

it("effective time is held time minus unavailable, starting, waiting and unused time", () => {
  const hours = hoursOf({
    total: 100,
    held: 70,
    unavailable: 20,
    heldUnavailable: 6,
    starting: 3,
    waiting: 5,
    unused: 8,
    active: 31,
  });
  expect(fleetUse(hours)).toEqual({
    effective: 48n, // 70 - 6 - 3 - 5 - 8
    wasted: 52n,
    utilization: "0.31",
    schedulingEfficiency: "0.8", // (70 - 6) / (100 - 20)
  });
});

it("a fleet without any time has no ratios", () => {
  expect(fleetUse(hoursOf({}))).toMatchObject({ utilization: null, schedulingEfficiency: null });
  expect(fleetUse(hoursOf({ total: 5, unavailable: 5 }))).toMatchObject({
    utilization: "0",
    schedulingEfficiency: null,
  });
});
