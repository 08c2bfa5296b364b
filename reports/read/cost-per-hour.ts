import type { StoreClient } from "../../runtime/store/client.ts";
import { sqlOf, type ChargesQuestion } from "../question/question.ts";

/** The mean cost of an hour of a GPU; not exact. */
export interface CostPerHour {
  readonly cluster: string;
  readonly node: string;
  readonly gpu: string;
  readonly cost: number;
}

/** Reads the mean cost of an hour of each GPU in a question's time. GPUs without a price are left out. Fails with a `StoreError`. */
export async function readCostsPerHour(
  store: Pick<StoreClient, "query">,
  question: ChargesQuestion,
): Promise<readonly CostPerHour[]> {
  const { where, parameters } = sqlOf(question);
  return store.query<CostPerHour>(
    `SELECT cluster, node, toString(slot) AS gpu, toFloat64(sum(effective_cost)) / toFloat64(sum(gpu_hours)) AS cost
     FROM charges_published WHERE ${where} AND slot IS NOT NULL AND effective_cost IS NOT NULL
     GROUP BY cluster, node, slot HAVING sum(gpu_hours) > 0`,
    parameters,
  );
}
