import { DEFAULT_ALERT_OPTIONS, type AlertOptions } from "../alerts/options.ts";

/** The options of dashboards: the rules that they read, and the ledger. */
export interface DashboardOptions extends AlertOptions {
  /** The price book's currency, in ISO 4217. */
  readonly currency: string;
  /** The billing policy, which is chosen first; if absent, the first kept policy. */
  readonly policy: string | undefined;
}

/** The default options. */
export const DEFAULT_DASHBOARD_OPTIONS: DashboardOptions = {
  ...DEFAULT_ALERT_OPTIONS,
  currency: "USD",
  policy: undefined,
};
