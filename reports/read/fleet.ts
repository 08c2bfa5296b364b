import { UNUSED_BELOW, type FleetHours } from "../../domain/fleet/use.ts";
import { amountOf } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { sqlOf, type ChargesQuestion } from "../question/question.ts";

/** SQL for states of a GPU's time. Charges beside GPUs are left out. */
const OF_GPUS = "slot IS NOT NULL AND state NOT IN ('non-gpu', 'unused commitment', 'markup', 'true-up')";
const NAMES = ["total", "held", "unavailable", "heldUnavailable", "starting", "waiting", "unused", "active"] as const;

/**
 * Reads the GPU-hours of a question by their use. A holder's hour on a GPU is unused if its active part is below {@link UNUSED_BELOW} of
 * its measured part. Fails with a `StoreError`.
 */
export async function readFleetHours(
  store: Pick<StoreClient, "query">,
  question: ChargesQuestion,
): Promise<FleetHours> {
  const { where, parameters } = sqlOf(question);
  const [row] = await store.query<Readonly<Record<(typeof NAMES)[number], string>>>(
    `SELECT toString(sum(hours)) AS total, toString(sumIf(hours, isHeld)) AS held, toString(sum(away)) AS unavailable,
       toString(sumIf(away, isHeld)) AS heldUnavailable, toString(sum(start)) AS starting, toString(sum(wait)) AS waiting,
       toString(sumIf(did + idled, isHeld AND did + idled > 0 AND did < (did + idled) * ${UNUSED_BELOW})) AS unused,
       toString(sum(did)) AS active
     FROM (
       SELECT holder != '' AS isHeld, sum(gpu_hours) AS hours, sumIf(gpu_hours, state = 'active') AS did,
         sumIf(gpu_hours, state = 'idle') AS idled, sumIf(gpu_hours, state = 'unavailable') AS away,
         sumIf(gpu_hours, state = 'starting') AS start, sumIf(gpu_hours, state = 'waiting') AS wait
       FROM charges_published WHERE ${where} AND ${OF_GPUS}
       GROUP BY cluster, node, slot, holder, toStartOfHour(from_at, 'UTC'))`,
    parameters,
  );
  return Object.fromEntries(NAMES.map((name) => [name, amountOf(row![name])])) as unknown as FleetHours;
}
