import { formatAmount } from "../../domain/exact/units.ts";
import type { CameTrue } from "./came-true.ts";

/** The amounts of an outcome, per hour of time. */
export const OUTCOME_AMOUNTS = ["promised", "before", "after", "expected", "came", "least", "most"] as const;

/** Returns an outcome as JSON, with amounts as decimals per hour and the time in ISO 8601. */
export function outcomeJson({ card, changedAt, isMarked, outcome }: CameTrue): object {
  const { id, kind, subject } = card;
  const { verdict, days, similar } = outcome;
  return {
    id,
    kind,
    subject,
    changedAt: new Date(changedAt).toISOString(),
    isMarked,
    perHour: Object.fromEntries(OUTCOME_AMOUNTS.map((name) => [name, formatAmount(outcome[name])])),
    days,
    similar,
    verdict,
  };
}
