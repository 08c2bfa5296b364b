import { add, ZERO, type Rational } from "../../exact/rational.ts";
import { readAmount } from "../amount.ts";
import { jsonObjects, textOf } from "./json-text.ts";

/**
 * Credits that are discounts of the line that has them. `FEE_UTILIZATION_OFFSET` takes the used part off the fee of a commitment by money.
 * Other credits, such as `PROMOTION`, pay a line with money of Google's.
 * Source: https://cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage (credits.type).
 */
const DISCOUNTS: ReadonlySet<string> = new Set([
  "COMMITTED_USAGE_DISCOUNT",
  "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE",
  "DISCOUNT",
  "FEE_UTILIZATION_OFFSET",
  "FREE_TIER",
  "RESELLER_MARGIN",
  "SUBSCRIPTION_BENEFIT",
  "SUSTAINED_USAGE_DISCOUNT",
]);

const COMMITMENTS: ReadonlySet<string> = new Set(["COMMITTED_USAGE_DISCOUNT", "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE"]);

/** The credits of a line, negative. */
export interface LineCredits {
  readonly discounts: Rational;
  readonly promotions: Rational;
  /** The names of the promotions. */
  readonly promotionNames: string;
  /** The id of the commitment that discounts the line; empty without one. */
  readonly commitment: string;
  readonly isCommitted: boolean;
}

const NONE: LineCredits = { discounts: ZERO, promotions: ZERO, promotionNames: "", commitment: "", isCommitted: false };

/** Returns the credits of a cell of `credits`; undefined if the text is not a list of credits with amounts. */
export function lineCredits(text: string): LineCredits | undefined {
  if (text === "" || text === "[]") return NONE;
  const credits = jsonObjects(text);
  if (credits === undefined) return undefined;
  let [discounts, promotions] = [ZERO, ZERO];
  const names: string[] = [];
  let commitment = "";
  let isCommitted = false;
  for (const credit of credits) {
    const amount = readAmount(textOf(credit, "amount"));
    if (amount === undefined) return undefined;
    const type = textOf(credit, "type");
    if (!DISCOUNTS.has(type)) {
      promotions = add(promotions, amount);
      if (amount.num !== 0n) names.push(textOf(credit, "full_name", "name", "id"));
      continue;
    }
    discounts = add(discounts, amount);
    if (!COMMITMENTS.has(type)) continue;
    isCommitted = true;
    commitment ||= textOf(credit, "id");
  }
  return { discounts, promotions, promotionNames: names.filter(Boolean).join(", "), commitment, isCommitted };
}
