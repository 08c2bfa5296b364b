import type { StoreClient } from "../../runtime/store/client.ts";
import { sqlOf, type ChargesQuestion } from "../question/question.ts";

/** The cost of an hour; the amount is for a chart and not exact. */
export interface HourlyCost {
  /** The start of the hour, milliseconds since the epoch. */
  readonly at: number;
  readonly cost: number;
}

/** Reads the effective cost of each charged hour of a question, oldest first. Fails with a `StoreError`. */
export async function readHourlyCosts(
  store: Pick<StoreClient, "query">,
  question: ChargesQuestion,
): Promise<readonly HourlyCost[]> {
  const { where, parameters } = sqlOf(question);
  return store.query<HourlyCost>(
    `SELECT toFloat64(toUnixTimestamp(toStartOfHour(from_at, 'UTC'))) * 1000 AS at,
       toFloat64(sum(ifNull(effective_cost, 0))) AS cost
     FROM charges_published WHERE ${where} GROUP BY at ORDER BY at`,
    parameters,
  );
}
