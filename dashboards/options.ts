import { DEFAULT_ALERT_OPTIONS, type AlertOptions } from "../alerts/options.ts";

/** What dashboards are made for: the rules that they read, and the ledger. */
export interface DashboardOptions extends AlertOptions {
  /** The price book's, as ISO 4217 has it. */
  readonly currency: string;
  /** The billing policy, by which money is told at first; the first of those that are kept where it is left out. */
  readonly policy: string | undefined;
}

/** What holds where nothing is said. */
export const DEFAULT_DASHBOARD_OPTIONS: DashboardOptions = {
  ...DEFAULT_ALERT_OPTIONS,
  currency: "USD",
  policy: undefined,
};
