import type { Money } from "../exact/units.ts";

/** The invoiced amount for machines of a kind over a billing period. */
export interface InvoiceLine {
  /** The key of the line: `invoice[2]`. */
  readonly key: string;
  readonly account: string;
  readonly instanceType: string;
  /** `on-demand`, `spot`, `reserved` or `owned`. */
  readonly capacityType: string;
  readonly amount: Money;
  readonly currency: string;
}
