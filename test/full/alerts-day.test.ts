import { expect, it } from "vitest";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { requirePart } from "../support/parts.ts";
import { keptReplay } from "../support/week/kept-replay.ts";
import { tableOf, tryOn } from "../support/week/trial.ts";

it.skipIf(!requirePart("promtool"))(
  "over a day of the demo each scripted fault has its alert, and nothing else fires",
  async () => {
    const play = keptReplay("test/full/alerts-day.json", { isAnew: process.env["ALERTS"] === "anew" });
    const trial = await tryOn(createFleet({ seed: 1, gpus: 48 }), Date.UTC(2026, 10, 3), 24, play);
    process.stdout.write(`${tableOf(trial)}\n`);
    expect(trial.faults.filter(({ minutes }) => minutes === undefined)).toEqual([]);
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
        "GPUSustainedLowUtilization",
        "GPUXidNewLatchedCode",
        "HighGPUMemoryUsage",
        "LowGPUUtilization",
      ]),
    );
  },
);
