import { filled, filledIfPresent, needed, optional, type KnownColumns } from "./column.ts";
import { APPLICABILITY } from "./objects.ts";
import { inOrder, together, where } from "./relations.ts";
import type { RowRule } from "./rule.ts";

const INTERVALS = ["Monthly", "Quarterly", "Semi-Annual", "Annual", "Custom"];

/** The columns of Contract Commitment. Source: the data model of 1.4. */
export const CONTRACT_COLUMNS: KnownColumns = {
  BillingCurrency: needed("currency"),
  ContractCommitmentApplicability: filled("json", { shape: APPLICABILITY }),
  ContractCommitmentBenefitCategory: filled("text", { words: ["Discount", "Entitlement", "Availability", "Other"] }),
  ContractCommitmentCategory: filled("text", { words: ["Spend", "Usage"] }),
  ContractCommitmentCost: needed("decimal"),
  ContractCommitmentCreated: filled("time"),
  ContractCommitmentDescription: needed(),
  ContractCommitmentDiscountPercentage: needed("decimal", { isFraction: true }),
  ContractCommitmentDurationType: filled(),
  ContractCommitmentFulfillmentInterval: filled("text", {
    words: ["Hourly", "Daily", "Weekly", ...INTERVALS, "Full Period", "Transactional"],
  }),
  ContractCommitmentId: filled(),
  ContractCommitmentLastUpdated: filled("time"),
  ContractCommitmentLifecycleStatus: filled("text", {
    words: ["Proposed", "Pending", "Active", "Exhausted", "Expired", "Canceled", "Superseded"],
  }),
  ContractCommitmentModel: filled("text", { words: ["Continuous", "Discontinuous"] }),
  ContractCommitmentOfferCategory: filled("text", { words: ["Negotiated", "Public"] }),
  ContractCommitmentPaymentInterval: filled("text", { words: ["One-Time", ...INTERVALS] }),
  ContractCommitmentPaymentModel: filled("text", { words: ["No Upfront", "Partial Upfront", "All Upfront"] }),
  ContractCommitmentPaymentUpfrontPercentage: filledIfPresent("decimal", { isFraction: true }),
  ContractCommitmentPeriodEnd: filled("time"),
  ContractCommitmentPeriodStart: filled("time"),
  ContractCommitmentQuantity: needed("decimal"),
  ContractCommitmentType: filled(),
  ContractCommitmentUnit: needed(),
  ContractId: filled(),
  ContractPeriodEnd: filled("time"),
  ContractPeriodStart: filled("time"),
  InvoiceIssuerName: filled(),
  PricingCurrency: filledIfPresent("currency"),
  PricingCurrencyContractCommitmentCost: optional("decimal"),
  ServiceProviderName: filled(),
};

/** The rules for the rows of Contract Commitment. */
export const CONTRACT_RULES: readonly RowRule[] = [
  together("ContractCommitmentUnit", "ContractCommitmentQuantity"),
  where("spend", { ContractCommitmentCategory: ["Spend"] }, { filled: ["BillingCurrency", "ContractCommitmentCost"] }),
  where("usage", { ContractCommitmentCategory: ["Usage"] }, { filled: ["ContractCommitmentQuantity"] }),
  where(
    "discount",
    { ContractCommitmentBenefitCategory: ["Discount"] },
    { filled: ["ContractCommitmentDiscountPercentage"] },
  ),
  where(
    "availability",
    { ContractCommitmentBenefitCategory: ["Availability"] },
    { empty: ["ContractCommitmentDiscountPercentage"] },
  ),
  where(
    "full-period",
    { ContractCommitmentFulfillmentInterval: ["Full Period"] },
    { is: { ContractCommitmentModel: ["Discontinuous"] } },
  ),
  where(
    "all-upfront",
    { ContractCommitmentPaymentModel: ["All Upfront"] },
    { is: { ContractCommitmentPaymentInterval: ["One-Time"] } },
  ),
  inOrder("ContractCommitmentCreated", "ContractCommitmentLastUpdated", false),
  inOrder("ContractCommitmentPeriodStart", "ContractCommitmentPeriodEnd", true),
  inOrder("ContractPeriodStart", "ContractPeriodEnd", true),
];
