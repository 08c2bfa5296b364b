import { describe, expect, it } from "vitest";
import { checkFocus, type WrittenCells } from "../../../../../reports/focus/check/check.ts";
import { REFERENCE_DATASETS, type Dataset } from "../../../../../reports/focus/check/dataset.ts";
import type { WrittenRow } from "../../../../../reports/focus/check/rule.ts";

const PERIOD: WrittenRow = {
  BillingPeriodCreated: "2026-03-01T00:00:00Z",
  BillingPeriodEnd: "2026-04-01T00:00:00Z",
  BillingPeriodLastUpdated: "2026-04-03T06:00:00Z",
  BillingPeriodStart: "2026-03-01T00:00:00Z",
  BillingPeriodStatus: "Closed",
  InvoiceIssuerName: "Finance",
};
const DETAIL: WrittenRow = {
  BilledCost: "54.12",
  BillingAccountId: "gpu-ledger",
  BillingCurrency: "USD",
  BillingPeriodEnd: "2026-04-01T00:00:00Z",
  BillingPeriodStart: "2026-03-01T00:00:00Z",
  ChargeCategory: "Usage",
  InvoiceDetailCreated: "2026-04-03T06:00:00Z",
  InvoiceDetailDescription: "charges of 2026-03, vision",
  InvoiceDetailGrain: '{"x_Team":"vision"}',
  InvoiceDetailId: "2026-03/vision#2026-03",
  InvoiceDetailLastUpdated: "2026-04-03T06:00:00Z",
  InvoiceId: "2026-03/vision",
  InvoiceIssueDate: "2026-04-03T06:00:00Z",
  InvoiceIssueStatus: "Issued",
  InvoiceIssuerName: "Finance",
  PaymentDueDate: null,
  PaymentTerms: "Internal chargeback",
  ReferenceInvoiceId: "2026-03/vision",
};
const COMMITMENT: WrittenRow = {
  BillingCurrency: "USD",
  ContractCommitmentApplicability: '{"IsGlobalScope":true}',
  ContractCommitmentBenefitCategory: "Other",
  ContractCommitmentCategory: "Usage",
  ContractCommitmentCost: "210240",
  ContractCommitmentCreated: "2026-01-01T00:00:00Z",
  ContractCommitmentDescription: "commitment eight",
  ContractCommitmentDiscountPercentage: null,
  ContractCommitmentDurationType: "1 Year",
  ContractCommitmentFulfillmentInterval: "Hourly",
  ContractCommitmentId: "commitment/eight",
  ContractCommitmentLastUpdated: "2026-01-01T00:00:00Z",
  ContractCommitmentLifecycleStatus: "Active",
  ContractCommitmentModel: "Continuous",
  ContractCommitmentOfferCategory: "Negotiated",
  ContractCommitmentPaymentInterval: "Custom",
  ContractCommitmentPaymentModel: "No Upfront",
  ContractCommitmentPeriodEnd: "2027-01-01T00:00:00Z",
  ContractCommitmentPeriodStart: "2026-01-01T00:00:00Z",
  ContractCommitmentQuantity: "70080",
  ContractCommitmentType: "GPU commitment",
  ContractCommitmentUnit: "GPU-Hours",
  ContractId: "commitment/eight",
  ContractPeriodEnd: "2027-01-01T00:00:00Z",
  ContractPeriodStart: "2026-01-01T00:00:00Z",
  InvoiceIssuerName: "Finance",
  PricingCurrency: "USD",
  PricingCurrencyContractCommitmentCost: "210240",
  ServiceProviderName: "GPU platform",
};

interface Case {
  readonly dataset: Dataset;
  readonly row: WrittenRow;
  /** For each rule, the values that violate it, each with the column of the violation first. */
  readonly breaks: Readonly<Record<string, readonly WrittenRow[]>>;
}

const { BillingPeriod, InvoiceDetail, ContractCommitment } = REFERENCE_DATASETS;
const SHARED = {
  "not-null": [{ InvoiceIssuerName: null }],
  "null-is-empty": [{ InvoiceIssuerName: "" }],
};
const CASES: readonly Case[] = [
  {
    dataset: BillingPeriod,
    row: PERIOD,
    breaks: {
      ...SHARED,
      moment: [{ BillingPeriodCreated: "2026-03-01" }],
      "allowed-word": [{ BillingPeriodStatus: "Running" }],
      "billing-month": [{ BillingPeriodEnd: "2026-04-02T00:00:00Z" }],
      "BillingPeriodLastUpdated-after-BillingPeriodCreated": [{ BillingPeriodLastUpdated: "2026-02-28T00:00:00Z" }],
    },
  },
  {
    dataset: InvoiceDetail,
    row: DETAIL,
    breaks: {
      ...SHARED,
      decimal: [{ BilledCost: "1,5" }],
      moment: [{ InvoiceIssueDate: "yesterday" }],
      "key-values": [{ InvoiceDetailGrain: "[]" }],
      "allowed-word": [{ InvoiceIssueStatus: "Paid" }, { ChargeCategory: "Use" }],
      currency: [{ BillingCurrency: "dollar" }],
      "billing-month": [{ BillingPeriodEnd: "2026-05-01T00:00:00Z" }],
      "InvoiceDetailLastUpdated-after-InvoiceDetailCreated": [{ InvoiceDetailLastUpdated: "2026-04-02T00:00:00Z" }],
      "grain-keys": [{ InvoiceDetailGrain: '{"team":"vision"}' }],
    },
  },
  {
    dataset: ContractCommitment,
    row: COMMITMENT,
    breaks: {
      ...SHARED,
      decimal: [{ ContractCommitmentCost: "ten" }],
      moment: [{ ContractPeriodEnd: "2027" }],
      "json-object": [
        { ContractCommitmentApplicability: "{}" },
        { ContractCommitmentApplicability: '{"IsGlobalScope":true,"IsComplexScope":true}' },
        { ContractCommitmentApplicability: '{"InclusionOperator":"And","Inclusions":[]}' },
      ],
      "allowed-word": [{ ContractCommitmentLifecycleStatus: "Over" }],
      currency: [{ PricingCurrency: "tokens" }],
      fraction: [
        { ContractCommitmentDiscountPercentage: "1.01" },
        { ContractCommitmentDiscountPercentage: "-0.01" },
        { ContractCommitmentPaymentUpfrontPercentage: "40" },
      ],
      "ContractCommitmentUnit-with-ContractCommitmentQuantity": [{ ContractCommitmentUnit: null }],
      spend: [
        { ContractCommitmentCost: null, ContractCommitmentCategory: "Spend" },
        { BillingCurrency: null, ContractCommitmentCategory: "Spend" },
      ],
      usage: [{ ContractCommitmentQuantity: null }],
      discount: [{ ContractCommitmentDiscountPercentage: null, ContractCommitmentBenefitCategory: "Discount" }],
      availability: [
        { ContractCommitmentDiscountPercentage: "0.3", ContractCommitmentBenefitCategory: "Availability" },
      ],
      "full-period": [{ ContractCommitmentModel: "Continuous", ContractCommitmentFulfillmentInterval: "Full Period" }],
      "all-upfront": [{ ContractCommitmentPaymentInterval: "Monthly", ContractCommitmentPaymentModel: "All Upfront" }],
      "ContractCommitmentLastUpdated-after-ContractCommitmentCreated": [
        { ContractCommitmentLastUpdated: "2025-12-31T00:00:00Z" },
      ],
      "ContractCommitmentPeriodEnd-after-ContractCommitmentPeriodStart": [
        { ContractCommitmentPeriodEnd: "2026-01-01T00:00:00Z" },
      ],
      "ContractPeriodEnd-after-ContractPeriodStart": [{ ContractPeriodEnd: "2026-01-01T00:00:00Z" }],
    },
  },
];

describe.each(CASES.map((each) => ({ ...each, name: each.dataset.name })))(
  "a rule of $name",
  ({ dataset, row, breaks }) => {
    async function violationsOf(rows: readonly WrittenRow[], sums: Readonly<Record<string, string>> = {}) {
      const heads = Object.keys(rows[0]!);
      async function* lines(): AsyncGenerator<WrittenCells> {
        yield heads;
        for (const each of rows) yield heads.map((name) => each[name] ?? null);
      }
      return (await checkFocus(lines(), dataset, { sums, isWhole: true })).violations;
    }

    it("is violated in at least one way by a row of these tests, and by no row as it should be", async () => {
      expect(new Set(dataset.rowRules.map(({ id }) => id))).toEqual(new Set(Object.keys(breaks)));
      expect(await violationsOf([row])).toEqual([]);
    });

    const broken = dataset.rowRules.flatMap((rule) =>
      (breaks[rule.id] ?? []).map((given) => ({ rule, given, id: rule.id })),
    );
    it.each(broken)("is reported in its column: $id by $given", ({ rule, given }) => {
      expect(rule.brokenIn({ ...row, ...given })).toBe(Object.keys(given)[0]);
    });

    it("is that no row comes twice, with the number of the second one", async () => {
      expect(await violationsOf([row, row])).toMatchObject([{ rule: "unique", row: 2, column: dataset.key[0] }]);
    });

    it("is that every needed column exists", async () => {
      const [first, ...others] = Object.keys(row) as [string, ...string[]];
      const without = Object.fromEntries(others.map((name) => [name, row[name]!]));
      expect(await violationsOf([without])).toContainEqual(expect.objectContaining({ rule: "columns", column: first }));
    });
  },
);

it("Invoice Detail must add up to the posted amount of the statements", async () => {
  async function* lines(): AsyncGenerator<WrittenCells> {
    yield Object.keys(DETAIL);
    yield Object.values(DETAIL);
  }
  const check = (BilledCost: string) => checkFocus(lines(), InvoiceDetail, { sums: { BilledCost }, isWhole: true });
  expect((await check("54.12")).count).toBe(0);
  expect((await check("54.13")).violations).toMatchObject([{ rule: "sums", column: "BilledCost" }]);
});
