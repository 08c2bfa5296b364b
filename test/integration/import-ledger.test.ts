import { beforeAll, describe, expect, test } from "vitest";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { billsOfDemo, differencesOf, LATE_MILLIS, type BothBills } from "../support/import/both-bills.ts";
import { requirePart } from "../support/parts.ts";

const FROM = Date.UTC(2026, 8, 14, 6);
const SPAN = { fromMillis: FROM, untilMillis: FROM + HOUR_MILLIS };
const MOST_GPUS_OF_POD = 8;

describe.skipIf(!requirePart("prometheus"))("an hour that was collected, and imported from a Prometheus", () => {
  let both: BothBills;

  beforeAll(async () => {
    both = await billsOfDemo("import_hour", SPAN);
  }, 300_000);

  test("the bills have the same GPU-hours in all, and a cost for each line", () => {
    const hours = ({ lines }: BothBills["collected"]): bigint =>
      lines.reduce((sum, { gpuHours }) => sum + gpuHours, 0n);
    expect(hours(both.imported)).toBe(hours(both.collected));
    expect(both.imported.lines.filter(({ cost }) => cost === undefined)).toHaveLength(
      both.collected.lines.filter(({ cost }) => cost === undefined).length,
    );
    expect(both.collected.lines.length).toBeGreaterThan(50);
  });

  test("each line of a team, a state and a pod is the same, but for the time until the next scrape of an ended pod", () => {
    for (const { line, gpuMinutes } of differencesOf(both, ["team", "state", "namespace", "pod"]))
      expect([line, Math.abs(gpuMinutes) <= (LATE_MILLIS / 60_000) * MOST_GPUS_OF_POD]).toEqual([line, true]);
    const byTeam = differencesOf(both, ["team", "state"]);
    const minutes = byTeam.reduce((sum, { gpuMinutes }) => sum + Math.abs(gpuMinutes), 0);
    // 96 GPUs are 5,760 GPU-minutes.
    expect(minutes).toBeLessThan(2);
  });

  test("the samples are read by remote read, and there is no remark on exported labels", () => {
    expect(both.import.way).toBe("remote read");
    expect(both.import.counts.scrapes).toBeGreaterThan(1_000);
    expect(both.import.remarks.map(({ text }) => text).filter((text) => text.includes("no labels"))).toEqual([]);
  });
});
