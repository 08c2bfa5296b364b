import { computeWindow } from "../../../processors/ledger/rollup/rollups.ts";
import { newRunId } from "../../../processors/ledger/runs/runs.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { clustersOf } from "../../../scenarios/play/tenure.ts";
import type { Scenario } from "../../../scenarios/files.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import { playScenario, type Played } from "../play-ledger.ts";

/** Plays a scenario, and makes the rollups of its hours. Evidence reads both. */
export async function playWithRollups(store: StoreClient, scenario: Scenario): Promise<Played> {
  const played = await playScenario(store, scenario);
  const { start, end } = scenario.period;
  for (const cluster of new Set(clustersOf(scenario)))
    for (let windowStart = start; windowStart < end; windowStart += HOUR_MILLIS) {
      const run = { cluster, windowStart, runId: newRunId(), generation: 1, watermark: new Map(), publishedAt: end };
      await computeWindow(store, run, new AbortController().signal);
    }
  return played;
}
