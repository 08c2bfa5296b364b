import { expect, onTestFinished, test } from "vitest";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { billsOfDemo, differencesOf, LATE_MILLIS } from "../support/import/both-bills.ts";
import { requirePart } from "../support/parts.ts";
import { startWritablePrometheus } from "../support/prometheus-server.ts";

const HOURS = Number(process.env["IMPORT_HOURS"] ?? 6);
const FROM = Date.UTC(2026, 8, 15);
const MOST_GPUS_OF_POD = 8;

test.skipIf(!requirePart("prometheus"))(
  "the bill of an imported time is that of its collectors, but for the seconds until the next scrape of ended pods",
  async () => {
    const span = { fromMillis: FROM, untilMillis: FROM + HOURS * HOUR_MILLIS };
    const server = await startWritablePrometheus();
    onTestFinished(() => server.stop());
    const both = await billsOfDemo(server, "import_day", span);
    const byTeam = differencesOf(both, ["team", "state"]);
    const byPod = differencesOf(both, ["team", "state", "namespace", "pod"]);
    process.stderr.write(`${HOURS} h: ${JSON.stringify({ byTeam, byPod })}\n`);
    for (const { line, gpuMinutes } of byPod)
      expect([line, Math.abs(gpuMinutes) <= (LATE_MILLIS / 60_000) * MOST_GPUS_OF_POD]).toEqual([line, true]);
    const minutes = byTeam.reduce((sum, { gpuMinutes }) => sum + Math.abs(gpuMinutes), 0);
    // 96 GPUs, of which one part in a thousand may differ.
    expect(minutes).toBeLessThan((96 * 60 * HOURS) / 1000);
  },
  1_800_000,
);
