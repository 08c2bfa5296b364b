import type { Config } from "../runtime/config/schema.ts";
import type { ProcessorStatus } from "./role.ts";

/**
 * Returns a processor's status for `/api/status`, which needs no token. The cost of teams is included only if metrics show it to everybody
 * too.
 */
export function shownStatus(
  status: ProcessorStatus,
  { moneyOnMetrics, metricsToken }: Pick<Config["server"], "moneyOnMetrics" | "metricsToken">,
): ProcessorStatus {
  return moneyOnMetrics && metricsToken === undefined ? status : { ...status, month: undefined };
}
