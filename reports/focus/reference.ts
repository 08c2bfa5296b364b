import type { StoreClient } from "../../runtime/store/client.ts";
import { FOCUS_DATASETS, type FocusDatasetName } from "../format/names.ts";
import { REFERENCE_DATASETS } from "./check/dataset.ts";
import { readBillingPeriods } from "./billing-periods.ts";
import { contractCommitments } from "./contract-commitments.ts";
import { focusFile, type FocusExport, type FocusWay } from "./file.ts";
import { readInvoiceDetails } from "./invoice-details.ts";
import type { FileManifest } from "./manifest.ts";
import type { ReferenceQuestion, ReferenceRows } from "./reference-rows.ts";
import type { FocusSetting } from "./setting.ts";

/** The manifest beside a file of a dataset. */
export type ReferenceManifest = FileManifest & {
  /** The month; null for all. */
  readonly period: string | null;
};

/** Statements are no invoices, because the configuration has no issuer of invoices. */
export class NoIssuerError extends Error {
  constructor() {
    super("Invoice Detail needs focus.invoiceIssuer: without an issuer of invoices, statements are no invoices");
    this.name = "NoIssuerError";
  }
}

/**
 * Exports a dataset beside Cost and Usage, in FOCUS 1.4, checked. Fails with a `StoreError`, and with a {@link NoIssuerError} for Invoice
 * Detail without an issuer.
 */
export async function exportReference(
  store: StoreClient,
  name: FocusDatasetName,
  question: ReferenceQuestion,
  setting: FocusSetting,
  format: FocusWay["format"],
): Promise<FocusExport<ReferenceManifest>> {
  const { kinds, rows, sums } = await READERS[name](store, question, setting);
  const heads = Object.entries(kinds).map(([column, kind]) => ({ name: column, kind }));
  const isOurs = (column: string): number => (column.startsWith("x_") ? 1 : 0);
  const columns = heads.toSorted((a, b) => isOurs(a.name) - isOurs(b.name) || (a.name < b.name ? -1 : 1));
  const source = {
    dataset: REFERENCE_DATASETS[FOCUS_DATASETS[name]],
    columns,
    rows: portions(rows.map((row) => columns.map((column) => row[column.name] ?? null))),
    expected: { sums, isWhole: true },
  };
  return focusFile(store, source, { period: question.period?.name ?? null }, { format, isChecked: true });
}

type Reader = (store: StoreClient, question: ReferenceQuestion, setting: FocusSetting) => Promise<ReferenceRows>;

const READERS: Readonly<Record<FocusDatasetName, Reader>> = {
  "billing-periods": readBillingPeriods,
  "invoice-details": async (store, question, setting) => {
    if (setting.invoiceIssuer === undefined) throw new NoIssuerError();
    return readInvoiceDetails(store, question, { ...setting, invoiceIssuer: setting.invoiceIssuer });
  },
  "contract-commitments": async (_, question, setting) => contractCommitments(question, setting),
};

async function* portions<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  yield rows;
}
