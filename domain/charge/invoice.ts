import type { Money } from "../exact/units.ts";

/** What was really invoiced for machines of a kind over a billing period. */
export interface InvoiceLine {
  /** Where it stands: `invoice[2]`. */
  readonly place: string;
  readonly account: string;
  readonly instanceType: string;
  /** on-demand, spot, reserved, owned. */
  readonly capacityType: string;
  readonly amount: Money;
  readonly currency: string;
}
