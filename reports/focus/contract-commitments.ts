import { incurredIn } from "../../domain/exact/accrual.ts";
import { exactDecimal, roundedDecimal } from "../../domain/exact/rational.ts";
import { formatAmount, LAST_UNIT_DIGITS } from "../../domain/exact/units.ts";
import type { Match, PriceBook, StandingEntry } from "../../domain/price/book.ts";
import { standingCost } from "../../domain/price/cost.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import { COMMITMENT_TYPES, commitmentCategory, committedGpuHours } from "./commitment.ts";
import { commitmentId } from "./identity.ts";
import { momentOf } from "./moment.ts";
import type { ReferenceQuestion, ReferenceRow, ReferenceRows } from "./reference-rows.ts";
import type { FocusSetting } from "./setting.ts";

const KINDS = {
  BillingCurrency: "text",
  ContractCommitmentApplicability: "json",
  ContractCommitmentBenefitCategory: "text",
  ContractCommitmentCategory: "text",
  ContractCommitmentCost: "decimal",
  ContractCommitmentCreated: "time",
  ContractCommitmentDescription: "text",
  ContractCommitmentDiscountPercentage: "decimal",
  ContractCommitmentDurationType: "text",
  ContractCommitmentFulfillmentInterval: "text",
  ContractCommitmentId: "text",
  ContractCommitmentLastUpdated: "time",
  ContractCommitmentLifecycleStatus: "text",
  ContractCommitmentModel: "text",
  ContractCommitmentOfferCategory: "text",
  ContractCommitmentPaymentInterval: "text",
  ContractCommitmentPaymentModel: "text",
  ContractCommitmentPeriodEnd: "time",
  ContractCommitmentPeriodStart: "time",
  ContractCommitmentQuantity: "decimal",
  ContractCommitmentType: "text",
  ContractCommitmentUnit: "text",
  ContractId: "text",
  ContractPeriodEnd: "time",
  ContractPeriodStart: "time",
  InvoiceIssuerName: "text",
  PricingCurrency: "text",
  PricingCurrencyContractCommitmentCost: "decimal",
  ServiceProviderName: "text",
} as const;

/** Returns the commitments of the price book. docs/focus.md explains the values that the book does not have. */
export function contractCommitments(
  { period, now }: Pick<ReferenceQuestion, "period" | "now">,
  setting: Pick<FocusSetting, "book" | "invoiceIssuer" | "serviceProvider">,
): ReferenceRows {
  const { book } = setting;
  const commitments = book?.commitments ?? [];
  const asked = commitments.filter(
    ({ fromMillis, untilMillis }) => period === undefined || (fromMillis < period.until && untilMillis > period.from),
  );
  return { kinds: KINDS, rows: asked.map((entry) => rowOf(entry, book!, now, setting)), sums: {} };
}

function rowOf(
  entry: StandingEntry,
  book: NonNullable<FocusSetting["book"]>,
  now: number,
  { invoiceIssuer, serviceProvider }: Pick<FocusSetting, "invoiceIssuer" | "serviceProvider">,
): ReferenceRow {
  const { fromMillis, untilMillis, currency, per, quantity, amount } = entry;
  const [from, until, id] = [momentOf(fromMillis), momentOf(untilMillis), commitmentId(entry)];
  const category = commitmentCategory(entry);
  const costIn = (rates: Pick<PriceBook, "currency" | "rates">): string =>
    formatAmount(incurredIn(standingCost(entry, rates), fromMillis, untilMillis));
  const gpus = quantity === undefined ? "" : ` for ${roundedDecimal(quantity, LAST_UNIT_DIGITS)} GPUs`;
  return {
    BillingCurrency: book.currency,
    ContractCommitmentApplicability: applicabilityOf(entry.scope),
    ContractCommitmentBenefitCategory: "Other",
    ContractCommitmentCategory: category,
    ContractCommitmentCost: costIn(book),
    ContractCommitmentCreated: from,
    ContractCommitmentDescription: `${entry.name}: ${exactDecimal(amount, 18) ?? roundedDecimal(amount, 18)} ${currency} per ${per}${gpus}`,
    ContractCommitmentDiscountPercentage: null,
    ContractCommitmentDurationType: durationOf(fromMillis, untilMillis),
    ContractCommitmentFulfillmentInterval: "Hourly",
    ContractCommitmentId: id,
    ContractCommitmentLastUpdated: now < untilMillis ? from : until,
    ContractCommitmentLifecycleStatus: now < fromMillis ? "Pending" : now < untilMillis ? "Active" : "Expired",
    ContractCommitmentModel: "Continuous",
    ContractCommitmentOfferCategory: "Negotiated",
    ContractCommitmentPaymentInterval: per === "month" ? "Monthly" : "Custom",
    ContractCommitmentPaymentModel: "No Upfront",
    ContractCommitmentPeriodEnd: until,
    ContractCommitmentPeriodStart: from,
    ContractCommitmentQuantity:
      quantity === undefined
        ? null
        : roundedDecimal(committedGpuHours(entry, { from: fromMillis, until: untilMillis }), LAST_UNIT_DIGITS),
    ContractCommitmentType: COMMITMENT_TYPES[category],
    ContractCommitmentUnit: quantity === undefined ? null : "GPU-Hours",
    ContractId: id,
    ContractPeriodEnd: until,
    ContractPeriodStart: from,
    InvoiceIssuerName: invoiceIssuer ?? serviceProvider,
    PricingCurrency: currency,
    PricingCurrencyContractCommitmentCost: costIn({ currency, rates: [] }),
    ServiceProviderName: serviceProvider,
  };
}

/** The keys of a scope that a column of Cost and Usage has with equal values. */
const DIMENSIONS: Readonly<Record<string, string>> = {
  cluster: "x_Cluster",
  region: "RegionId",
  zone: "AvailabilityZone",
};

/** A scope of other keys, such as a model by parts of its name, is beyond FOCUS's conditions. Then `x_Scope` has the scope itself. */
function applicabilityOf({ nodeLabels, ...keys }: Match): string {
  const given = Object.entries(keys) as [string, string][];
  const labels = Object.entries(nodeLabels);
  if (given.length === 0 && labels.length === 0) return JSON.stringify({ IsGlobalScope: true });
  if (labels.length > 0 || given.some(([key]) => DIMENSIONS[key] === undefined)) {
    const scope = [...given, ...labels.map(([name, value]) => [`nodeLabel ${name}`, value] as const)];
    return JSON.stringify({ IsComplexScope: true, x_Scope: Object.fromEntries(scope) });
  }
  const inclusions = given.map(([key, value]) => ({ Dimension: DIMENSIONS[key], Operator: "In", Values: [value] }));
  return JSON.stringify({ InclusionOperator: "And", Inclusions: inclusions });
}

/** Returns a term in whole years or months, or else in days, rounded up. */
function durationOf(from: number, until: number): string {
  const [first, last] = [new Date(from), new Date(until)];
  const months = (last.getUTCFullYear() - first.getUTCFullYear()) * 12 + last.getUTCMonth() - first.getUTCMonth();
  const ended = new Date(from);
  ended.setUTCMonth(ended.getUTCMonth() + months);
  const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? "" : "s"}`;
  if (months === 0 || ended.getTime() !== until) return counted(Math.ceil((until - from) / DAY_MILLIS), "Day");
  return months % 12 === 0 ? counted(months / 12, "Year") : counted(months, "Month");
}
