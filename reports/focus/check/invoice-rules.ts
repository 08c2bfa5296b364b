import { filled, filledIfPresent, needed, optional, type KnownColumns } from "./column.ts";
import { CHARGE_CATEGORIES } from "./cost-columns.ts";
import { BILLING_MONTH, inOrder } from "./relations.ts";
import type { RowRule } from "./rule.ts";
import { pairsIn } from "./values.ts";

/** The columns of Billing Period. Source: the data model of 1.4. */
export const PERIOD_COLUMNS: KnownColumns = {
  BillingPeriodCreated: filled("time"),
  BillingPeriodEnd: filled("time"),
  BillingPeriodLastUpdated: filled("time"),
  BillingPeriodStart: filled("time"),
  BillingPeriodStatus: filled("text", { words: ["Open", "Closed"] }),
  InvoiceIssuerName: filled(),
};

/** The rules for the rows of Billing Period. */
export const PERIOD_RULES: readonly RowRule[] = [
  BILLING_MONTH,
  inOrder("BillingPeriodCreated", "BillingPeriodLastUpdated", false),
];

/** The columns of Invoice Detail. Source: the data model of 1.4. */
export const DETAIL_COLUMNS: KnownColumns = {
  BilledCost: filled("decimal"),
  BillingAccountId: filled(),
  BillingCurrency: filled("currency"),
  BillingPeriodEnd: filled("time"),
  BillingPeriodStart: filled("time"),
  ChargeCategory: filled("text", { words: CHARGE_CATEGORIES }),
  InvoiceDetailCreated: filled("time"),
  InvoiceDetailDescription: needed(),
  InvoiceDetailGrain: needed("pairs"),
  InvoiceDetailId: filled(),
  InvoiceDetailLastUpdated: filled("time"),
  InvoiceId: filled(),
  InvoiceIssueDate: needed("time"),
  InvoiceIssueStatus: filled("text", { words: ["Open", "Issued", "Voided"] }),
  InvoiceIssuerName: filled(),
  PaymentCurrency: filledIfPresent("currency"),
  PaymentCurrencyBilledCost: filledIfPresent("decimal"),
  PaymentCurrencyInvoiceDetailId: filledIfPresent(),
  PaymentDueDate: needed("time"),
  PaymentTerms: filled(),
  PurchaseOrderNumber: optional(),
  ReferenceInvoiceId: filled(),
};

/** The rules for the rows of Invoice Detail. */
export const DETAIL_RULES: readonly RowRule[] = [
  BILLING_MONTH,
  inOrder("InvoiceDetailCreated", "InvoiceDetailLastUpdated", false),
  {
    id: "grain-keys",
    columns: ["InvoiceDetailGrain"],
    text: "a key of InvoiceDetailGrain begins with x_, or is a name of FOCUS in Pascal case",
    brokenIn: (row) =>
      (pairsIn(row["InvoiceDetailGrain"]) ?? []).every(([key]) => /^(x_)?[A-Z][a-zA-Z0-9]*$/.test(key))
        ? undefined
        : "InvoiceDetailGrain",
  },
];
