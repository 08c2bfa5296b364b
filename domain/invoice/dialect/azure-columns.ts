import { namedColumns, type ExportHead } from "./dialect.ts";

/**
 * The columns of Azure's cost details that count. Names differ by agreement and version: enterprise agreements have `Date`,
 * `SubscriptionId` or `SubscriptionGuid`, `ResourceId` or `InstanceId`; the customer agreement has `date`, `billingCurrency` and
 * `costInBillingCurrency` in lower case, and pay-as-you-go has `PreTaxCost` or `Cost`.
 * Sources: https://learn.microsoft.com/azure/cost-management-billing/dataset-schema/cost-usage-details-ea and cost-usage-details-mca.
 */
const NAMES = {
  payer: ["BillingAccountId", "BillingAccountName", "EnrollmentNumber"],
  billingFrom: ["BillingPeriodStartDate"],
  billingUntil: ["BillingPeriodEndDate"],
  account: ["SubscriptionId", "SubscriptionGuid"],
  date: ["Date", "UsageDateTime", "UsageDate"],
  chargeType: ["ChargeType"],
  pricingModel: ["PricingModel"],
  category: ["MeterCategory"],
  subcategory: ["MeterSubCategory"],
  meter: ["MeterName"],
  product: ["ProductName", "Product"],
  location: ["ResourceLocation", "Location", "MeterRegion"],
  zone: ["AvailabilityZone"],
  resource: ["ResourceId", "InstanceId"],
  instanceName: ["InstanceName"],
  details: ["AdditionalInfo", "AdditionalInfoField"],
  consumedService: ["ConsumedService"],
  unit: ["UnitOfMeasure"],
  quantity: ["Quantity", "UsageQuantity"],
  cost: ["CostInBillingCurrency", "Cost", "PreTaxCost"],
  listCost: ["PaygCostInBillingCurrency"],
  listPrice: ["PayGPrice"],
  unitPrice: ["UnitPrice"],
  currency: ["BillingCurrency", "BillingCurrencyCode", "Currency"],
  pricingCurrency: ["PricingCurrency", "PricingCurrencyCode"],
  reservation: ["ReservationId"],
  benefit: ["BenefitId"],
  invoice: ["InvoiceId"],
} as const satisfies Record<string, readonly string[]>;

/** The number of each column of an export of Azure. */
export type AzureColumns = Readonly<Record<keyof typeof NAMES, number>>;

/** Returns the columns of an export of Azure; undefined if the file is another one. */
export function azureColumns(head: ExportHead): AzureColumns | undefined {
  return namedColumns(head, NAMES, ["date", "chargeType", "category", "cost", "currency", "quantity"]);
}
