import type { Measure } from "./measure.ts";
import type { Part } from "./part.ts";
import type { UnitPrices } from "./unit-price.ts";

/** A part with values that depend on the other parts of its origin. */
export interface PricedPart {
  readonly part: Part;
  /** Undefined for adjustments. */
  readonly measure: Measure | undefined;
  /** Undefined if FOCUS's columns of prices are null: for adjustments, and for corrections without a matching unit price. */
  readonly prices: UnitPrices | undefined;
  /** Decimal text; undefined if an origin cannot be expressed in ratios. */
  readonly ratio: string | undefined;
}
