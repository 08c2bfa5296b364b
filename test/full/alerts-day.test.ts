import { expect, it } from "vitest";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { requirePart } from "../support/parts.ts";
import { keptReplay } from "../support/week/kept-replay.ts";
import { isOfProgram, tableOf, tryOn } from "../support/week/trial.ts";

it.skipIf(!requirePart("promtool"))(
  "over a day of the demo a notification has each scripted fault of hardware, few are sent, and nothing fires without a reason",
  async () => {
    const play = keptReplay("test/full/alerts-day.json", { isAnew: process.env["ALERTS"] === "anew" });
    const trial = await tryOn(createFleet({ seed: 1, gpus: 48 }), Date.UTC(2026, 10, 3), 24, play);
    process.stdout.write(`${tableOf(trial)}\n`);
    expect(trial.faults.filter(({ told }) => told === undefined)).toEqual([]);
    expect(trial.faults.filter((fault) => fault.told === "shown" && !isOfProgram(fault))).toEqual([]);
    expect(trial.notifications.length).toBeLessThanOrEqual(20);
    expect(trial.firings.filter(({ reason }) => reason === undefined)).toEqual([]);
    expect(new Set(trial.firings.map(({ alert }) => alert))).toEqual(
      new Set([
        "GPUAllocatedIdle",
        "GPUDisappeared",
        "GPUExporterDown",
        "GPUNearSlowdownTemperature",
        "GPUNodeUnallocated",
        "GPUNodeWithoutTelemetry",
        "GPUPodLowUtilization",
        "GPUPodPartiallyIdle",
        "GPUPodsPending",
        "GPUProfilingCountersStuck",
        "GPUSoftwareThermalThrottling",
        "GPUXidNewLatchedCode",
        "HighGPUMemoryUsage",
        "LowGPUUtilization",
      ]),
    );
  },
);
