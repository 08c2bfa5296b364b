/** Columns of FOCUS 1.3 that every file has and that are never null. */
export const NEVER_NULL: readonly string[] = [
  "BilledCost",
  "BillingAccountId",
  "BillingCurrency",
  "BillingPeriodEnd",
  "BillingPeriodStart",
  "ChargeCategory",
  "ChargePeriodEnd",
  "ChargePeriodStart",
  "ContractedCost",
  "EffectiveCost",
  "HostProviderName",
  "InvoiceIssuerName",
  "ListCost",
  "ProviderName",
  "PublisherName",
  "ServiceCategory",
  "ServiceName",
  "ServiceProviderName",
];

/** Columns that are never null where a file has them. */
export const NEVER_NULL_IF_PRESENT: readonly string[] = ["BillingAccountType", "ChargeFrequency", "ServiceSubcategory"];

/** Columns that every file has and that can be null. */
export const ALWAYS_THERE: readonly string[] = [
  "BillingAccountName",
  "ChargeClass",
  "ChargeDescription",
  "PricingQuantity",
  "PricingUnit",
];

/** Columns whose presence depends on the provider. */
export const CONDITIONAL: readonly string[] = [
  "AllocatedMethodDetails",
  "AllocatedMethodId",
  "AllocatedResourceId",
  "AllocatedResourceName",
  "AllocatedTags",
  "AvailabilityZone",
  "CapacityReservationId",
  "CapacityReservationStatus",
  "CommitmentDiscountCategory",
  "CommitmentDiscountId",
  "CommitmentDiscountName",
  "CommitmentDiscountQuantity",
  "CommitmentDiscountStatus",
  "CommitmentDiscountType",
  "CommitmentDiscountUnit",
  "ConsumedQuantity",
  "ConsumedUnit",
  "ContractApplied",
  "ContractedUnitPrice",
  "InvoiceId",
  "ListUnitPrice",
  "PricingCategory",
  "PricingCurrency",
  "PricingCurrencyContractedUnitPrice",
  "PricingCurrencyEffectiveCost",
  "PricingCurrencyListUnitPrice",
  "RegionId",
  "RegionName",
  "ResourceId",
  "ResourceName",
  "ResourceType",
  "SkuId",
  "SkuMeter",
  "SkuPriceDetails",
  "SkuPriceId",
  "SubAccountId",
  "SubAccountName",
  "SubAccountType",
  "Tags",
];

/** Columns of decimals. */
export const DECIMALS: readonly string[] = [
  "BilledCost",
  "CommitmentDiscountQuantity",
  "ConsumedQuantity",
  "ContractedCost",
  "ContractedUnitPrice",
  "EffectiveCost",
  "ListCost",
  "ListUnitPrice",
  "PricingCurrencyContractedUnitPrice",
  "PricingCurrencyEffectiveCost",
  "PricingCurrencyListUnitPrice",
  "PricingQuantity",
];

/** Columns of moments. */
export const MOMENTS: readonly string[] = [
  "BillingPeriodEnd",
  "BillingPeriodStart",
  "ChargePeriodEnd",
  "ChargePeriodStart",
];

/** Columns of JSON objects of scalars. */
export const KEY_VALUES: readonly string[] = ["AllocatedTags", "SkuPriceDetails", "Tags"];

/** Columns with a fixed list of allowed values beside null. */
export const ALLOWED_WORDS: Readonly<Record<string, readonly string[]>> = {
  CapacityReservationStatus: ["Used", "Unused"],
  ChargeCategory: ["Usage", "Purchase", "Tax", "Credit", "Adjustment"],
  ChargeClass: ["Correction"],
  ChargeFrequency: ["One-Time", "Recurring", "Usage-Based"],
  CommitmentDiscountStatus: ["Used", "Unused"],
  PricingCategory: ["Standard", "Dynamic", "Committed", "Other"],
  ServiceCategory: [
    "AI and Machine Learning",
    "Analytics",
    "Business Applications",
    "Compute",
    "Databases",
    "Developer Tools",
    "Identity",
    "Integration",
    "Internet of Things",
    "Management and Governance",
    "Media",
    "Migration",
    "Mobile",
    "Multicloud",
    "Networking",
    "Security",
    "Storage",
    "Web",
    "Other",
  ],
};
