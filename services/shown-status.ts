import type { Config } from "../runtime/config/schema.ts";
import type { ProcessorStatus } from "./role.ts";

/** A processor's status for `/api/status`, which asks for no token: what teams cost stands in it where metrics tell it to everybody too. */
export function shownStatus(
  status: ProcessorStatus,
  { moneyOnMetrics, metricsToken }: Pick<Config["server"], "moneyOnMetrics" | "metricsToken">,
): ProcessorStatus {
  return moneyOnMetrics && metricsToken === undefined ? status : { ...status, month: undefined };
}
