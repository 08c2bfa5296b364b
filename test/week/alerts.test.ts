import { expect, it } from "vitest";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { requirePart } from "../support/parts.ts";
import { isOfProgram, tableOf, tryOn } from "../support/week/trial.ts";

const DAY_HOURS = 24;
/** The notifications in a week of 96 GPUs that people can read. */
const MOST_NOTIFICATIONS = 60;

it.skipIf(!requirePart("promtool"))(
  "over a week of the demo a notification has each scripted fault of hardware, at most 60 are sent, and nothing fires without a reason",
  async () => {
    const trial = await tryOn(createFleet({ seed: 1, gpus: 96 }), Date.UTC(2026, 10, 2), 7 * DAY_HOURS);
    process.stdout.write(`${tableOf(trial)}\n`);
    expect(trial.faults.filter(({ told }) => told === undefined)).toEqual([]);
    expect(trial.faults.filter((fault) => fault.told === "shown" && !isOfProgram(fault))).toEqual([]);
    expect(trial.notifications.length).toBeLessThanOrEqual(MOST_NOTIFICATIONS);
    expect(trial.firings.filter(({ reason }) => reason === undefined)).toEqual([]);
  },
);
