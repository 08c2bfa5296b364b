import { describe, expect, it } from "vitest";
import { lastUnits } from "../../../../../domain/exact/units.ts";
import { ROW_CHECKS } from "../../../../../reports/focus/check/check.ts";
import type { WrittenRow } from "../../../../../reports/focus/check/rule.ts";
import { freePart, GPU, partOf, writtenRows } from "../../../../support/focus-parts.ts";

const [held] = writtenRows([partOf()]) as [WrittenRow];
const [left] = writtenRows([freePart()]) as [WrittenRow];
const [owners] = writtenRows([freePart({ payer: "owner", team: "vision" })]) as [WrittenRow];
const [markup] = writtenRows([freePart({ origin: { ...GPU, node: "", slot: undefined }, state: "markup" })]) as [
  WrittenRow,
];
const [correction] = writtenRows([partOf({ origin: { ...GPU, isCorrection: true }, gpuHours: lastUnits(0n) })]) as [
  WrittenRow,
];

/** For each rule, the values of a row that violates it, and the column of the violation. */
const BREAKS: Readonly<
  Record<string, readonly { readonly given: WrittenRow; readonly in: string; readonly of?: WrittenRow }[]>
> = {
  "not-null": [
    { given: { BilledCost: null }, in: "BilledCost" },
    { given: { PublisherName: null }, in: "PublisherName" },
    { given: { ChargeFrequency: null }, in: "ChargeFrequency" },
  ],
  "null-is-empty": [
    { given: { RegionId: "" }, in: "RegionId" },
    { given: { x_Queue: "N/A" }, in: "x_Queue" },
  ],
  decimal: [
    { given: { EffectiveCost: "5.4e1" }, in: "EffectiveCost" },
    { given: { ListCost: "1,000" }, in: "ListCost" },
    { given: { ConsumedQuantity: "18 h" }, in: "ConsumedQuantity" },
  ],
  moment: [
    { given: { ChargePeriodStart: "2026-03-02T00:00:00.000Z" }, in: "ChargePeriodStart" },
    { given: { ChargePeriodEnd: "2026-03-02T24:00:00Z" }, in: "ChargePeriodEnd" },
    { given: { BillingPeriodEnd: "2026-04-01T00:00:00+00:00" }, in: "BillingPeriodEnd" },
  ],
  "key-values": [
    { given: { Tags: "{" }, in: "Tags" },
    { given: { Tags: '["a"]' }, in: "Tags" },
    { given: { AllocatedTags: '{"a":{"b":1}}' }, in: "AllocatedTags" },
  ],
  "method-details": [
    { given: { AllocatedMethodDetails: "{}" }, in: "AllocatedMethodDetails" },
    { given: { AllocatedMethodDetails: '{"Elements":[]}' }, in: "AllocatedMethodDetails" },
    { given: { AllocatedMethodDetails: '{"Elements":[{"AllocatedRatio":"1"}]}' }, in: "AllocatedMethodDetails" },
    { given: { AllocatedMethodDetails: '{"Elements":[{"AllocatedRatio":1.5}]}' }, in: "AllocatedMethodDetails" },
    {
      given: { AllocatedMethodDetails: '{"Elements":[{"AllocatedRatio":1,"UsageQuantity":1}]}' },
      in: "AllocatedMethodDetails",
    },
  ],
  "allowed-word": [
    { given: { ChargeCategory: "Use" }, in: "ChargeCategory" },
    { given: { ChargeClass: "Regular" }, in: "ChargeClass" },
    { given: { PricingCategory: "Spot" }, in: "PricingCategory" },
    { given: { ServiceCategory: "GPU" }, in: "ServiceCategory" },
  ],
  currency: [{ given: { BillingCurrency: "dollar" }, in: "BillingCurrency" }],
  "ListCost-product": [
    { given: { ListCost: "54.000000002" }, in: "ListCost" },
    { given: { PricingQuantity: "18.000000001" }, in: "ListCost" },
  ],
  "ContractedCost-product": [{ given: { ContractedUnitPrice: "3.1" }, in: "ContractedCost" }],
  "ConsumedUnit-with-ConsumedQuantity": [
    { given: { ConsumedUnit: null }, in: "ConsumedUnit" },
    { given: { ConsumedQuantity: null }, in: "ConsumedUnit" },
  ],
  "PricingUnit-with-PricingQuantity": [{ given: { PricingUnit: null }, in: "PricingUnit" }],
  "ResourceType-with-ResourceId": [{ given: { ResourceId: null }, in: "ResourceType" }],
  "AllocatedResourceName-with-AllocatedResourceId": [
    { given: { AllocatedResourceName: null }, in: "AllocatedResourceName" },
    { given: { AllocatedResourceName: "vision" }, in: "AllocatedResourceName", of: left },
  ],
  "SubAccountType-with-SubAccountId": [{ given: { SubAccountType: null }, in: "SubAccountType" }],
  "RegionName-with-RegionId": [{ given: { RegionId: null }, in: "RegionName" }],
  "null-without-ResourceId": [{ given: { ResourceName: "gpu-a" }, in: "ResourceName", of: markup }],
  "null-without-SubAccountId": [{ given: { SubAccountId: null }, in: "SubAccountName" }],
  "null-without-SkuId": [{ given: { SkuId: null }, in: "SkuMeter" }],
  "null-without-SkuPriceId": [
    { given: { SkuPriceId: null }, in: "PricingQuantity" },
    { given: { ConsumedQuantity: "0" }, in: "ConsumedQuantity", of: markup },
    { given: { ListUnitPrice: "3" }, in: "ListUnitPrice", of: correction },
  ],
  "null-without-AllocatedMethodId": [{ given: { AllocatedMethodId: null }, in: "AllocatedResourceId" }],
  "null-without-AllocatedResourceId": [{ given: { AllocatedTags: '{"a":"b"}' }, in: "AllocatedTags", of: left }],
  "priced-use": [
    { given: { SkuPriceId: null }, in: "SkuPriceId" },
    { given: { ListUnitPrice: null }, in: "ListUnitPrice" },
    { given: { ChargeClass: null }, in: "SkuPriceId", of: correction },
  ],
  "consumed-use": [
    { given: { ConsumedQuantity: null }, in: "ConsumedQuantity" },
    { given: { ConsumedQuantity: "1" }, in: "ConsumedQuantity", of: markup },
  ],
  "unit-price-sign": [{ given: { ListUnitPrice: "-3" }, in: "ListUnitPrice" }],
  "billing-month": [
    { given: { BillingPeriodEnd: "2026-03-31T00:00:00Z" }, in: "BillingPeriodEnd" },
    {
      given: { BillingPeriodStart: "2026-03-02T00:00:00Z", BillingPeriodEnd: "2026-04-02T00:00:00Z" },
      in: "BillingPeriodEnd",
    },
  ],
  "charge-period": [{ given: { ChargePeriodEnd: "2026-03-02T00:00:00Z" }, in: "ChargePeriodEnd" }],
  "tags-once": [{ given: { AllocatedTags: '{"gpu-ledger/node":"gpu-b"}' }, in: "AllocatedTags" }],
  "allocated-to": [
    { given: { AllocatedResourceId: null }, in: "AllocatedResourceId" },
    { given: { AllocatedResourceId: "team:vision" }, in: "AllocatedResourceId", of: left },
    { given: { x_Payer: "holder" }, in: "AllocatedResourceId", of: left },
    { given: { x_Payer: "owner" }, in: "AllocatedResourceId", of: left },
  ],
};

describe("a rule of FOCUS", () => {
  it("is violated in at least one way by a row of these tests", () => {
    expect(ROW_CHECKS.map(({ id }) => id)).toEqual(Object.keys(BREAKS));
  });

  it("has a sentence for the rule, and its columns", () => {
    expect(ROW_CHECKS.every(({ text, columns }) => text !== "" && columns.length > 0)).toBe(true);
    expect(new Set(ROW_CHECKS.map(({ id }) => id)).size).toBe(ROW_CHECKS.length);
  });

  it.each(ROW_CHECKS.map((rule) => ({ rule, id: rule.id })))("is kept by rows as we make them: $id", ({ rule }) => {
    for (const row of [held, left, owners, markup, correction]) expect(rule.brokenIn(row)).toBeUndefined();
  });

  const broken = ROW_CHECKS.flatMap((rule) => (BREAKS[rule.id] ?? []).map((each) => ({ ...each, rule, id: rule.id })));
  it.each(broken)("is reported in its column: $id by $given", ({ rule, given, in: column, of = held }) => {
    expect(rule.brokenIn({ ...of, ...given })).toBe(column);
  });

  it("compares products to 10⁻⁹, and no closer", () => {
    const rule = ROW_CHECKS.find(({ id }) => id === "ListCost-product")!;
    expect(rule.brokenIn({ ...held, ListCost: "54.000000001" })).toBeUndefined();
    expect(rule.brokenIn({ ...held, ListCost: "53.999999999" })).toBeUndefined();
    expect(rule.brokenIn({ ...held, ListCost: "53.999999998" })).toBe("ListCost");
  });
});
