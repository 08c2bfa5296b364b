import { expect, it } from "vitest";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { requirePart } from "../support/parts.ts";
import { tableOf, tryOn } from "../support/week/trial.ts";

const DAY_HOURS = 24;

it.skipIf(!requirePart("promtool"))(
  "over a week of the demo each scripted fault has its alert, and nothing else fires",
  async () => {
    const trial = await tryOn(createFleet({ seed: 1, gpus: 96 }), Date.UTC(2026, 10, 2), 7 * DAY_HOURS);
    process.stdout.write(`${tableOf(trial)}\n`);
    expect(trial.faults.filter(({ minutes }) => minutes === undefined)).toEqual([]);
    expect(trial.firings.filter(({ reason }) => reason === undefined)).toEqual([]);
  },
);
