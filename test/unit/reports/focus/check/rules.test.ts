import { FOCUS_VERSIONS, type FocusVersion } from "../../../../../domain/focus-version.ts";
import { describe, expect, it } from "vitest";
import { lastUnits } from "../../../../../domain/exact/units.ts";
import { COST_AND_USAGE } from "../../../../../reports/focus/check/dataset.ts";
import type { WrittenRow } from "../../../../../reports/focus/check/rule.ts";
import type { Part } from "../../../../../reports/focus/part.ts";
import { focusBook, freePart, GPU, partOf, SETTING, writtenRows } from "../../../../support/focus-parts.ts";

/** A commitment to spend 9.99 an hour, and one for eight GPUs. */
const BOOK = focusBook({
  commitments: [
    { name: "spend", from: "2026-01-01", until: "2027-01-01", amount: "9.99", per: "hour" },
    { name: "eight", from: "2026-01-01", until: "2027-01-01", amount: "24", per: "hour", quantity: 8 },
  ],
});
const SETTINGS = {
  "1.3": SETTING,
  "1.4": { ...SETTING, version: "1.4", book: BOOK, invoiced: new Set([GPU.billingPeriod]), invoiceIssuer: "Finance" },
} as const;

/** Rows as they are made in a version. */
function rowsIn(version: FocusVersion) {
  const row = (part: Part): WrittenRow => writtenRows([part], SETTINGS[version])[0]!;
  const nowhere = { ...GPU, node: "", slot: undefined, gpuModel: "", instanceType: "" };
  const unused = (name: string) =>
    freePart({
      origin: { ...nowhere, price: `commitment ${name}` },
      state: "unused commitment",
      gpuHours: lastUnits(0n),
    });
  return {
    held: row(partOf()),
    left: row(freePart()),
    owners: row(freePart({ payer: "owner", team: "vision" })),
    markup: row(freePart({ origin: { ...GPU, node: "", slot: undefined }, state: "markup" })),
    correction: row(partOf({ origin: { ...GPU, isCorrection: true }, gpuHours: lastUnits(0n) })),
    spend: row(unused("spend")),
    eight: row(unused("eight")),
  };
}
const { held, left, markup, correction } = rowsIn("1.3");
const ROWS_1_4 = rowsIn("1.4");

interface Break {
  readonly given: WrittenRow;
  readonly in: string;
  readonly of?: WrittenRow;
}
type Breaks = Readonly<Record<string, readonly Break[]>>;

/** For each rule of both versions, the values of a row that violates it, and the column of the violation. */
const BREAKS: Breaks = {
  "not-null": [
    { given: { BilledCost: null }, in: "BilledCost" },
    { given: { InvoiceIssuerName: null }, in: "InvoiceIssuerName" },
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
  "json-object": [
    { given: { AllocatedMethodDetails: "{}" }, in: "AllocatedMethodDetails" },
    { given: { AllocatedMethodDetails: '{"Elements":[]}' }, in: "AllocatedMethodDetails" },
    { given: { AllocatedMethodDetails: '{"Elements":[{"AllocatedRatio":"1"}]}' }, in: "AllocatedMethodDetails" },
    { given: { AllocatedMethodDetails: '{"Elements":[{"AllocatedRatio":1.5}]}' }, in: "AllocatedMethodDetails" },
    {
      given: { AllocatedMethodDetails: '{"Elements":[{"AllocatedRatio":1,"UsageQuantity":1}]}' },
      in: "AllocatedMethodDetails",
    },
    { given: { AllocatedMethodDetails: '{"Elements":[{"AllocatedRatio":-0.1}]}' }, in: "AllocatedMethodDetails" },
    { given: { AllocatedMethodDetails: '{"Elements":[{"AllocatedRatio":1,"Own":1}]}' }, in: "AllocatedMethodDetails" },
    { given: { ContractApplied: '{"Elements":[{"ContractId":"c"}]}' }, in: "ContractApplied" },
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
  "CommitmentDiscountUnit-with-CommitmentDiscountQuantity": [
    { given: { CommitmentDiscountUnit: "USD" }, in: "CommitmentDiscountUnit" },
  ],
  "CommitmentDiscountCategory-with-CommitmentDiscountId": [
    { given: { CommitmentDiscountId: "c" }, in: "CommitmentDiscountCategory" },
  ],
  "CommitmentDiscountType-with-CommitmentDiscountId": [
    { given: { CommitmentDiscountId: "c" }, in: "CommitmentDiscountType" },
  ],
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
  "null-without-CommitmentDiscountId": [
    { given: { CommitmentDiscountName: "c" }, in: "CommitmentDiscountName" },
    { given: { CommitmentDiscountStatus: "Used" }, in: "CommitmentDiscountStatus" },
  ],
  "null-without-CapacityReservationId": [
    { given: { CapacityReservationStatus: "Used" }, in: "CapacityReservationStatus" },
  ],
  "priced-use": [
    { given: { SkuPriceId: null }, in: "SkuPriceId" },
    { given: { ListUnitPrice: null }, in: "ListUnitPrice" },
    { given: { ChargeClass: null }, in: "SkuPriceId", of: correction },
  ],
  "consumed-use": [{ given: { ConsumedQuantity: null }, in: "ConsumedQuantity" }],
  "consumed-other": [{ given: { ConsumedQuantity: "1" }, in: "ConsumedQuantity", of: markup }],
  "consumed-unused": [{ given: { CommitmentDiscountStatus: "Unused" }, in: "ConsumedQuantity" }],
  "purchase-frequency": [{ given: { ChargeCategory: "Purchase" }, in: "ChargeFrequency" }],
  "tax-price": [{ given: { ChargeCategory: "Tax" }, in: "SkuId" }],
  "unit-price-sign": [{ given: { ListUnitPrice: "-3" }, in: "ListUnitPrice" }],
  "billing-month": [
    { given: { BillingPeriodEnd: "2026-03-31T00:00:00Z" }, in: "BillingPeriodEnd" },
    {
      given: { BillingPeriodStart: "2026-03-02T00:00:00Z", BillingPeriodEnd: "2026-04-02T00:00:00Z" },
      in: "BillingPeriodEnd",
    },
  ],
  "ChargePeriodEnd-after-ChargePeriodStart": [
    { given: { ChargePeriodEnd: "2026-03-02T00:00:00Z" }, in: "ChargePeriodEnd" },
  ],
  "tags-once": [{ given: { AllocatedTags: '{"gpu-ledger/node":"gpu-b"}' }, in: "AllocatedTags" }],
  "allocated-to": [
    { given: { AllocatedResourceId: null }, in: "AllocatedResourceId" },
    { given: { AllocatedResourceId: "team:vision" }, in: "AllocatedResourceId", of: left },
    { given: { x_Payer: "holder" }, in: "AllocatedResourceId", of: left },
    { given: { x_Payer: "owner" }, in: "AllocatedResourceId", of: left },
  ],
};

/** The same for the rules that only one version has. */
const MORE: Readonly<Record<FocusVersion, Breaks>> = {
  "1.3": { "not-null": [{ given: { PublisherName: null }, in: "PublisherName" }] },
  "1.4": {
    "json-object": [
      {
        given: { CommitmentProgramEligibilityDetails: '{"CommitmentPrograms":[]}' },
        in: "CommitmentProgramEligibilityDetails",
      },
    ],
    "InvoiceDetailId-with-InvoiceId": [
      { given: { InvoiceDetailId: null }, in: "InvoiceDetailId" },
      { given: { InvoiceId: null }, in: "InvoiceDetailId" },
    ],
    "discount-status": [
      { given: { CommitmentDiscountStatus: null }, in: "CommitmentDiscountStatus", of: ROWS_1_4.spend },
    ],
    "discount-quantity": [
      { given: { CommitmentDiscountQuantity: null }, in: "CommitmentDiscountQuantity", of: ROWS_1_4.eight },
    ],
    "unused-resource": [
      { given: { ResourceId: "prod/gpu-a" }, in: "CommitmentDiscountId", of: ROWS_1_4.spend },
      { given: { ContractApplied: null }, in: "ContractApplied", of: ROWS_1_4.spend },
      { given: { ContractApplied: ROWS_1_4.eight["ContractApplied"]! }, in: "ContractApplied", of: ROWS_1_4.spend },
    ],
  },
};

describe.each(FOCUS_VERSIONS)("a rule of Cost and Usage in FOCUS %s", (version) => {
  const { rowRules } = COST_AND_USAGE[version];
  const rows = Object.values(rowsIn(version));
  const breaksOf = (id: string): readonly Break[] => [...(BREAKS[id] ?? []), ...(MORE[version][id] ?? [])];

  it("is violated in at least one way by a row of these tests", () => {
    const ids = rowRules.map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set([...Object.keys(BREAKS), ...Object.keys(MORE[version])]));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("has a sentence for the rule, and its columns", () => {
    expect(rowRules.every(({ text, columns }) => text !== "" && columns.length > 0)).toBe(true);
  });

  it.each(rowRules.map((rule) => ({ rule, id: rule.id })))("is kept by rows as we make them: $id", ({ rule }) => {
    for (const row of rows) expect(rule.brokenIn(row)).toBeUndefined();
  });

  const broken = rowRules.flatMap((rule) => breaksOf(rule.id).map((each) => ({ ...each, rule, id: rule.id })));
  it.each(broken)(
    "is reported in its column: $id by $given",
    ({ rule, given, in: column, of = rowsIn(version).held }) => {
      expect(rule.brokenIn({ ...of, ...given })).toBe(column);
    },
  );

  it("compares products to 10⁻⁹, and no closer", () => {
    const rule = rowRules.find(({ id }) => id === "ListCost-product")!;
    expect(rule.brokenIn({ ...held, ListCost: "54.000000001" })).toBeUndefined();
    expect(rule.brokenIn({ ...held, ListCost: "53.999999999" })).toBeUndefined();
    expect(rule.brokenIn({ ...held, ListCost: "53.999999998" })).toBe("ListCost");
  });
});
