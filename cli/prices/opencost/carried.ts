import { readAmount } from "../../../domain/invoice/amount.ts";
import { compare, exactDecimal, ZERO } from "../../../domain/exact/rational.ts";

/** A price of OpenCost as an entry of a price book has it. Without a match it prices everything. */
export interface CarriedPrice {
  readonly match: {
    readonly nodeLabel?: Readonly<Record<string, string>>;
    readonly instanceType?: string;
    readonly region?: string;
    readonly capacityType?: "spot";
  };
  readonly per: "gpu-hour" | "node-hour";
  /** An exact decimal. */
  readonly list: string;
}

/** A value or a row that a price book of GPUs cannot have. */
export interface LeftOut {
  /** The key of the value, or the line and the content of the row: `CPU`, `line 4: gpu-a`. */
  readonly what: string;
  readonly why: string;
}

/** The prices of a file of OpenCost, and what is left out of it. */
export interface OpenCostPrices {
  /** ISO 4217; undefined if the file names none. */
  readonly currency: string | undefined;
  readonly prices: readonly CarriedPrice[];
  readonly leftOut: readonly LeftOut[];
  /** Sentences about the meaning of the prices, for comments. */
  readonly notes: readonly string[];
}

/** The most digits after the point of a price. The amounts of OpenCost have at most 17. */
const MOST_DIGITS = 30;

/** Returns a price as an exact decimal; undefined if the text is not a number of 0 or more. */
export function priceOf(text: string): string | undefined {
  const amount = readAmount(text.trim());
  return amount === undefined || compare(amount, ZERO) < 0 ? undefined : exactDecimal(amount, MOST_DIGITS);
}

/** The reason for a price that {@link priceOf} cannot read. */
export const NO_PRICE = "it is not a price of 0 or more";
