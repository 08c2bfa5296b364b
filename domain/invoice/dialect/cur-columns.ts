import { namedColumns, NO_COLUMN, type ExportHead } from "./dialect.ts";

/**
 * The columns of AWS's exports that count, by the names of the legacy report. CUR 2.0 and the legacy report in Parquet have the same names
 * in snake case, which `plainName` makes equal.
 * Sources: https://docs.aws.amazon.com/cur/latest/userguide/data-dictionary.html and table-dictionary-cur2.html.
 */
const NAMES = {
  payer: ["bill/PayerAccountId"],
  billingFrom: ["bill/BillingPeriodStartDate"],
  billingUntil: ["bill/BillingPeriodEndDate"],
  invoice: ["bill/InvoiceId"],
  account: ["lineItem/UsageAccountId"],
  type: ["lineItem/LineItemType"],
  from: ["lineItem/UsageStartDate"],
  until: ["lineItem/UsageEndDate"],
  service: ["lineItem/ProductCode"],
  usageType: ["lineItem/UsageType"],
  operation: ["lineItem/Operation"],
  zone: ["lineItem/AvailabilityZone"],
  resource: ["lineItem/ResourceId"],
  quantity: ["lineItem/UsageAmount"],
  currency: ["lineItem/CurrencyCode"],
  unblended: ["lineItem/UnblendedCost"],
  netUnblended: ["lineItem/NetUnblendedCost"],
  description: ["lineItem/LineItemDescription"],
  instanceType: ["product/instanceType"],
  region: ["product/regionCode", "product/region"],
  onDemand: ["pricing/publicOnDemandCost"],
  unit: ["pricing/unit"],
  reservationArn: ["reservation/ReservationARN"],
  reservationCost: ["reservation/EffectiveCost"],
  netReservationCost: ["reservation/NetEffectiveCost"],
  unusedUpfront: ["reservation/UnusedAmortizedUpfrontFeeForBillingPeriod"],
  netUnusedUpfront: ["reservation/NetUnusedAmortizedUpfrontFeeForBillingPeriod"],
  unusedRecurring: ["reservation/UnusedRecurringFee"],
  netUnusedRecurring: ["reservation/NetUnusedRecurringFee"],
  unusedQuantity: ["reservation/UnusedQuantity"],
  planArn: ["savingsPlan/SavingsPlanARN"],
  planCost: ["savingsPlan/SavingsPlanEffectiveCost"],
  netPlanCost: ["savingsPlan/NetSavingsPlanEffectiveCost"],
  planTotal: ["savingsPlan/TotalCommitmentToDate"],
  planUsed: ["savingsPlan/UsedCommitment"],
  planOffering: ["savingsPlan/OfferingType"],
  planFamily: ["savingsPlan/InstanceTypeFamily"],
  capacityArn: ["capacityReservation/CapacityReservationArn"],
  capacityStatus: ["capacityReservation/CapacityReservationStatus"],
} as const satisfies Record<string, readonly string[]>;

/** The number of each column of an export of AWS. */
export type CurColumns = Readonly<Record<keyof typeof NAMES | "product", number>>;

/** Returns the columns of an export of AWS; undefined if the file is another one. */
export function curColumns(head: ExportHead): CurColumns | undefined {
  const columns = namedColumns(head, NAMES, ["type", "from", "until", "unblended", "currency"]);
  if (columns === undefined) return undefined;
  // CUR 2.0 has most facts of the product in one map. It is slow to read, so it is read for the instance type alone.
  const hasInstanceType = NAMES.instanceType.some((name) => head.has(name));
  return { ...columns, product: hasInstanceType ? NO_COLUMN : head.column("product") };
}

/** Returns the form of the file for people. The legacy report in CSV has slashes, and CUR 2.0 alone has `product` as one column. */
export function curFormat(head: ExportHead): string {
  if (head.names.some((name) => name.includes("/"))) return "AWS CUR";
  return head.has("product") ? "AWS CUR 2.0" : "AWS CUR in snake case";
}
