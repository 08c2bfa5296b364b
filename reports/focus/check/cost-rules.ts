import { isBusy, type Phase } from "../../../domain/serving/split-rule.ts";
import { UNATTRIBUTED } from "../../../domain/serving/tenants.ts";
import { isObject } from "../../../domain/object.ts";
import { BILLING_MONTH, inOrder, isNull, nullWithout, product, together, where } from "./relations.ts";
import type { RowRule } from "./rule.ts";
import { jsonIn, pairsIn } from "./values.ts";

const UNIT_PRICES = ["ListUnitPrice", "ContractedUnitPrice"];
const PRICED = ["SkuId", "SkuPriceId", "PricingCategory", "PricingQuantity", ...UNIT_PRICES];
const CONSUMED = ["ConsumedQuantity", "ConsumedUnit"];
const DISCOUNT = ["CommitmentDiscountCategory", "CommitmentDiscountType"];
const UNUSED = { ChargeCategory: ["Usage"], CommitmentDiscountStatus: ["Unused"] };

/** The rules for the columns of one row of Cost and Usage together, in both versions. */
export const COST_RULES: readonly RowRule[] = [
  product("ListCost", "ListUnitPrice"),
  product("ContractedCost", "ContractedUnitPrice"),
  together("ConsumedUnit", "ConsumedQuantity"),
  together("PricingUnit", "PricingQuantity"),
  together("ResourceType", "ResourceId"),
  together("AllocatedResourceName", "AllocatedResourceId"),
  together("SubAccountType", "SubAccountId"),
  together("RegionName", "RegionId"),
  together("CommitmentDiscountUnit", "CommitmentDiscountQuantity"),
  ...DISCOUNT.map((column) => together(column, "CommitmentDiscountId")),
  nullWithout("ResourceId", "ResourceName"),
  nullWithout("SubAccountId", "SubAccountName"),
  nullWithout("SkuId", "SkuMeter", "SkuPriceId"),
  nullWithout(
    "SkuPriceId",
    "PricingQuantity",
    "ConsumedQuantity",
    "PricingCategory",
    "SkuPriceDetails",
    "CommitmentDiscountQuantity",
    ...UNIT_PRICES,
  ),
  nullWithout("AllocatedMethodId", "AllocatedResourceId", "AllocatedTags", "AllocatedMethodDetails"),
  nullWithout("AllocatedResourceId", "AllocatedTags"),
  nullWithout(
    "CommitmentDiscountId",
    "CommitmentDiscountName",
    "CommitmentDiscountStatus",
    "CommitmentDiscountQuantity",
  ),
  nullWithout("CapacityReservationId", "CapacityReservationStatus"),
  where("priced-use", { ChargeCategory: ["Usage", "Purchase"], ChargeClass: [null] }, { filled: PRICED }),
  where(
    "consumed-use",
    { ChargeCategory: ["Usage"], ChargeClass: [null], CommitmentDiscountStatus: [null, "Used"] },
    { filled: CONSUMED },
  ),
  where("consumed-other", { ChargeCategory: ["Purchase", "Tax", "Credit", "Adjustment"] }, { empty: CONSUMED }),
  where("consumed-unused", UNUSED, { empty: CONSUMED }),
  where("purchase-frequency", { ChargeCategory: ["Purchase"] }, { isNot: { ChargeFrequency: ["Usage-Based"] } }),
  where("tax-price", { ChargeCategory: ["Tax"] }, { empty: PRICED }),
  BILLING_MONTH,
  inOrder("ChargePeriodStart", "ChargePeriodEnd", true),
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

/** The ids of the commitments in ContractApplied. */
function appliedTo(text: string | null | undefined): readonly unknown[] {
  const value = jsonIn(text);
  const elements = isObject(value) && Array.isArray(value["Elements"]) ? (value["Elements"] as readonly unknown[]) : [];
  return elements.map((element) => (isObject(element) ? element["ContractCommitmentId"] : undefined));
}

/** The rules that 1.4 adds. */
export const COST_RULES_1_4: readonly RowRule[] = [
  together("InvoiceDetailId", "InvoiceId"),
  where(
    "discount-status",
    { ChargeCategory: ["Usage"], CommitmentDiscountCategory: ["Spend", "Usage"] },
    { filled: ["CommitmentDiscountStatus"] },
  ),
  where(
    "discount-quantity",
    {
      ChargeCategory: ["Usage", "Purchase"],
      ChargeClass: [null],
      CommitmentDiscountCategory: ["Spend", "Usage"],
    },
    { filled: ["CommitmentDiscountQuantity"] },
  ),
  {
    id: "unused-resource",
    columns: ["ResourceId", "CommitmentDiscountId", "ContractApplied", "CommitmentDiscountStatus"],
    text: "the unused part of a commitment has the commitment as its resource and in ContractApplied",
    brokenIn: (row) => {
      if (row["CommitmentDiscountStatus"] !== "Unused" || row["ChargeCategory"] !== "Usage") return undefined;
      if (row["CommitmentDiscountId"] !== row["ResourceId"]) return "CommitmentDiscountId";
      return appliedTo(row["ContractApplied"]).includes(row["ResourceId"]) ? undefined : "ContractApplied";
    },
  },
];
