import { namedColumns, type ExportHead } from "./dialect.ts";

/**
 * The columns of FOCUS that count. `ServiceProviderName` came with 1.3; `ProviderName` and `PublisherName` left with 1.4.
 * `CapacityReservationId` and `SkuPriceDetails` came with 1.1, `InvoiceId` with 1.2. Columns with `x_` are of providers: of AWS
 * (`x_UsageType`), of Microsoft (`x_SkuDetails`, `x_SkuMeterCategory`) and of Google (`x_SystemLabels`).
 * Source: https://focus.finops.org/focus-specification/.
 */
const NAMES = {
  serviceProvider: ["ServiceProviderName"],
  provider: ["ProviderName"],
  publisher: ["PublisherName"],
  payer: ["BillingAccountId"],
  account: ["SubAccountId"],
  billingFrom: ["BillingPeriodStart"],
  billingUntil: ["BillingPeriodEnd"],
  from: ["ChargePeriodStart"],
  until: ["ChargePeriodEnd"],
  category: ["ChargeCategory"],
  chargeClass: ["ChargeClass"],
  description: ["ChargeDescription"],
  currency: ["BillingCurrency"],
  list: ["ListCost"],
  contracted: ["ContractedCost"],
  effective: ["EffectiveCost"],
  billed: ["BilledCost"],
  resource: ["ResourceId"],
  resourceName: ["ResourceName"],
  resourceType: ["ResourceType"],
  region: ["RegionId", "Region"],
  zone: ["AvailabilityZone"],
  service: ["ServiceName"],
  serviceCategory: ["ServiceCategory"],
  serviceSubcategory: ["ServiceSubcategory"],
  pricing: ["PricingCategory"],
  commitment: ["CommitmentDiscountId"],
  commitmentStatus: ["CommitmentDiscountStatus"],
  commitmentType: ["CommitmentDiscountType"],
  capacityReservation: ["CapacityReservationId"],
  capacityStatus: ["CapacityReservationStatus"],
  consumed: ["ConsumedQuantity", "UsageQuantity"],
  consumedUnit: ["ConsumedUnit", "UsageUnit"],
  invoice: ["InvoiceId", "x_InvoiceId"],
  meter: ["SkuMeter", "x_SkuMeterName", "x_SkuDescription"],
  meterCategory: ["x_SkuMeterCategory"],
  skuDetails: ["x_SkuDetails"],
  priceDetails: ["SkuPriceDetails"],
  systemLabels: ["x_SystemLabels"],
  instanceType: ["x_InstanceType"],
  usageType: ["x_UsageType"],
} as const satisfies Record<string, readonly string[]>;

/** The number of each column of a FOCUS export. */
export type FocusColumns = Readonly<Record<keyof typeof NAMES, number>>;

/** Returns the columns of a FOCUS export; undefined if the file is another one. */
export function focusColumns(head: ExportHead): FocusColumns | undefined {
  return namedColumns(head, NAMES, ["billed", "effective", "from", "until", "category", "currency"]);
}
