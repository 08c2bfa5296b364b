import type { Config } from "../runtime/config/schema.ts";
import type { ProcessorStatus } from "./role.ts";

/**
 * Returns a processor's status for `/api/status`. The cost of teams is included only if metrics have it too.
 */
export function shownStatus(
  status: ProcessorStatus,
  { moneyOnMetrics }: Pick<Config["server"], "moneyOnMetrics">,
): ProcessorStatus {
  return moneyOnMetrics ? status : { ...status, month: undefined };
}
