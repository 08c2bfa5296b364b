import { isBusy, type Phase } from "../../../domain/serving/split-rule.ts";
import { UNATTRIBUTED } from "../../../domain/serving/tenants.ts";
import type { RowRule, WrittenRow } from "./rule.ts";
import { decimalIn, pairsIn } from "./values.ts";

const isNull = (row: WrittenRow, column: string): boolean => (row[column] ?? null) === null;

/** 10⁻⁹ of the currency, as a product of two decimals in 10⁻¹⁸. */
const TOLERANCE = 10n ** 27n;

/** Rule: a cost is a unit price times a quantity, if both are present. */
function product(cost: string, price: string): RowRule {
  const quantity = "PricingQuantity";
  return {
    id: `${cost}-product`,
    columns: [cost, price, quantity],
    text: `${cost} is ${price} × ${quantity}, within 10⁻⁹`,
    brokenIn: (row) => {
      const [total, each, count] = [decimalIn(row[cost]), decimalIn(row[price]), decimalIn(row[quantity])];
      if (total === undefined || each === undefined || count === undefined) return undefined;
      const difference = each * count - total * 10n ** 18n;
      return difference > TOLERANCE || difference < -TOLERANCE ? cost : undefined;
    },
  };
}

/** Rule: two columns are null together. */
function together(one: string, other: string): RowRule {
  return {
    id: `${one}-with-${other}`,
    columns: [one, other],
    text: `${one} is null if and only if ${other} is null`,
    brokenIn: (row) => (isNull(row, one) === isNull(row, other) ? undefined : one),
  };
}

/** Rule: columns are null if another column is null. */
function nullWithout(needed: string, ...columns: readonly string[]): RowRule {
  return {
    id: `null-without-${needed}`,
    columns: [...columns, needed],
    text: `the column is null if ${needed} is null`,
    brokenIn: (row) => (isNull(row, needed) ? columns.find((column) => !isNull(row, column)) : undefined),
  };
}

const PRICED = ["SkuId", "SkuPriceId", "PricingCategory", "PricingQuantity", "ListUnitPrice", "ContractedUnitPrice"];
const UNIT_PRICES = ["ListUnitPrice", "ContractedUnitPrice"];
const CONSUMED = ["ConsumedQuantity", "ConsumedUnit"];
const SPLIT = ["AllocatedResourceId", "AllocatedTags", "AllocatedMethodDetails"];

const isPaidUse = (row: WrittenRow): boolean =>
  (row["ChargeCategory"] === "Usage" || row["ChargeCategory"] === "Purchase") && row["ChargeClass"] !== "Correction";

/** FOCUS's rules for the columns of one row together. */
export const ROW_RULES: readonly RowRule[] = [
  product("ListCost", "ListUnitPrice"),
  product("ContractedCost", "ContractedUnitPrice"),
  together("ConsumedUnit", "ConsumedQuantity"),
  together("PricingUnit", "PricingQuantity"),
  together("ResourceType", "ResourceId"),
  together("AllocatedResourceName", "AllocatedResourceId"),
  together("SubAccountType", "SubAccountId"),
  together("RegionName", "RegionId"),
  nullWithout("ResourceId", "ResourceName"),
  nullWithout("SubAccountId", "SubAccountName"),
  nullWithout("SkuId", "SkuMeter", "SkuPriceId"),
  nullWithout(
    "SkuPriceId",
    "PricingQuantity",
    "ConsumedQuantity",
    "PricingCategory",
    "SkuPriceDetails",
    ...UNIT_PRICES,
  ),
  nullWithout("AllocatedMethodId", ...SPLIT),
  nullWithout("AllocatedResourceId", "AllocatedTags"),
  {
    id: "priced-use",
    columns: [...PRICED, "ChargeCategory", "ChargeClass"],
    text: "the column is not null for usage and purchases that are not corrections",
    brokenIn: (row) => (isPaidUse(row) ? PRICED.find((column) => isNull(row, column)) : undefined),
  },
  {
    id: "consumed-use",
    columns: [...CONSUMED, "ChargeCategory"],
    text: "the column is null for rows that are not usage, and not null for usage that is not a correction",
    brokenIn: (row) => {
      if (row["ChargeCategory"] !== "Usage") return CONSUMED.find((column) => !isNull(row, column));
      return isPaidUse(row) ? CONSUMED.find((column) => isNull(row, column)) : undefined;
    },
  },
  {
    id: "unit-price-sign",
    columns: UNIT_PRICES,
    text: "a unit price is not negative",
    brokenIn: (row) => UNIT_PRICES.find((column) => (decimalIn(row[column]) ?? 0n) < 0n),
  },
  {
    id: "billing-month",
    columns: ["BillingPeriodStart", "BillingPeriodEnd"],
    text: "a billing period is a UTC calendar month",
    brokenIn: (row) => {
      const [start, end] = [row["BillingPeriodStart"] ?? "", row["BillingPeriodEnd"] ?? ""];
      const next = new Date(start);
      next.setUTCMonth(next.getUTCMonth() + 1);
      const isMonth = start.endsWith("-01T00:00:00Z") && next.getTime() === Date.parse(end);
      return isMonth ? undefined : "BillingPeriodEnd";
    },
  },
  {
    id: "charge-period",
    columns: ["ChargePeriodStart", "ChargePeriodEnd"],
    text: "a charge period ends after it begins",
    brokenIn: ({ ChargePeriodStart: start, ChargePeriodEnd: end }) =>
      start && end && Date.parse(start) >= Date.parse(end) ? "ChargePeriodEnd" : undefined,
  },
  {
    id: "tags-once",
    columns: ["AllocatedTags", "Tags"],
    text: "AllocatedTags has no key of Tags",
    brokenIn: (row) => {
      const keys = new Set(pairsIn(row["Tags"])?.map(([key]) => key));
      return pairsIn(row["AllocatedTags"])?.some(([key]) => keys.has(key)) === true ? "AllocatedTags" : undefined;
    },
  },
  {
    id: "allocated-to",
    columns: ["AllocatedResourceId", "x_Payer", "x_Attribution", "x_Phase", "x_Model", "x_Tenant"],
    text: "a cost without a holder and without a paying team, and a service's time without work or with unknown tenants, has no allocated resource; all other costs have one",
    brokenIn: (row) => {
      if (isNull(row, "x_Payer")) return undefined;
      const isSomebodys = isNull(row, "x_Phase")
        ? ["holder", "owner"].includes(row["x_Payer"]!) || !isNull(row, "x_Attribution")
        : isBusy(row["x_Phase"] as Phase) &&
          row["x_Tenant"] !== UNATTRIBUTED &&
          !(isNull(row, "x_Tenant") && isNull(row, "x_Model"));
      return isSomebodys === isNull(row, "AllocatedResourceId") ? "AllocatedResourceId" : undefined;
    },
  },
];
