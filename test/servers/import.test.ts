import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { billsOfDemo, differencesOf, LATE_MILLIS, type BothBills } from "../support/import/both-bills.ts";
import { prepareThanos, prepareVictoriaMetrics, type OtherServer } from "../support/import/other-servers.ts";

const FROM = Date.UTC(2026, 8, 14, 6);
const SPAN = { fromMillis: FROM, untilMillis: FROM + HOUR_MILLIS };
const GPUS = 48;
const MOST_GPUS_OF_POD = 8;

describe.each([
  ["VictoriaMetrics", "victoria_metrics", await prepareVictoriaMetrics()],
  ["Thanos", "thanos", await prepareThanos()],
])("an hour that was collected, and imported from %s", (_, name, start) => {
  describe.skipIf(start === undefined)("with its own program", () => {
    let server: OtherServer;
    let both: BothBills;
    beforeAll(async () => {
      server = await start!();
      both = await billsOfDemo(server, `import_${name}`, SPAN, GPUS);
    }, 600_000);
    afterAll(() => server?.stop());

    test("the bills have the same GPU-hours, and a cost for the same lines", () => {
      const hours = ({ lines }: BothBills["collected"]): bigint =>
        lines.reduce((sum, { gpuHours }) => sum + gpuHours, 0n);
      expect(hours(both.imported)).toBe(hours(both.collected));
      expect(both.imported.lines.filter(({ cost }) => cost === undefined)).toHaveLength(
        both.collected.lines.filter(({ cost }) => cost === undefined).length,
      );
      expect(both.import.counts.scrapes).toBeGreaterThan(1_000);
    });

    test("each line of a team, a state and a pod is the same, but for the time until the next scrape of an ended pod", () => {
      for (const { line, gpuMinutes } of differencesOf(both, ["team", "state", "namespace", "pod"]))
        expect([line, Math.abs(gpuMinutes) <= (LATE_MILLIS / 60_000) * MOST_GPUS_OF_POD]).toEqual([line, true]);
    });
  });
});
