import type { Money } from "../exact/units.ts";

/** The invoiced amount for machines of a kind over a billing period. */
export interface InvoiceLine {
  /** The place of the line: `invoice[2]`. */
  readonly place: string;
  readonly account: string;
  readonly instanceType: string;
  /** `on-demand`, `spot`, `reserved` or `owned`. */
  readonly capacityType: string;
  readonly amount: Money;
  readonly currency: string;
}
