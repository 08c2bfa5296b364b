import { dateText, type BillingPeriod } from "../../../domain/period.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";
import type { ClosingDocument } from "./document.ts";
import { sealed, type StatementDocument, type Totals } from "./statement.ts";

/** A document in its stored form. */
export interface Kept<Document> {
  readonly document: Document;
  readonly text: string;
  readonly hash: string;
}

/** Returns the columns for the totals of a statement or a closing. */
export function columnsOf(totals: Totals): Readonly<Record<string, string | number>> {
  return {
    list_cost: totals.list,
    contracted_cost: totals.contracted,
    effective_cost: totals.effective,
    correction_cost: totals.corrections,
    true_up_cost: totals.trueUp,
    posted: totals.posted,
    gpu_hours: totals.gpuHours,
    unpriced_gpu_hours: totals.unpricedGpuHours,
    held_gpu_hours: totals.heldGpuHours,
    unobserved_gpu_hours: totals.unobservedGpuHours,
    lines: totals.lines,
  };
}

/** Stores the statements of a closing that is not visible yet. Fails with a `StoreError`. */
export async function insertStatements(
  store: StoreClient,
  { period, closeId }: { readonly period: BillingPeriod; readonly closeId: string },
  statements: readonly Kept<StatementDocument>[],
): Promise<void> {
  await insertRecords(
    store,
    "statements",
    statements.map(({ document, text, hash }) => ({
      close_id: closeId,
      billing_period: dateText(period.from),
      team: document.team,
      cost_center: document.costCenter,
      ...columnsOf(document),
      lines_hash: document.linesHash,
      hash,
      document: text,
    })),
  );
}

/** Stores a closing, which makes all of its rows valid, or a dry run. Fails with a `StoreError`. */
export async function insertClosing(
  store: StoreClient,
  of: {
    readonly period: BillingPeriod;
    readonly closeId: string;
    readonly isDryRun: boolean;
    readonly document: ClosingDocument;
  },
): Promise<void> {
  const { document, closeId, period, isDryRun } = of;
  const { text, hash } = sealed(document);
  await insertRecords(store, "closings", [
    {
      billing_period: dateText(period.from),
      close_id: closeId,
      kind: isDryRun ? "dry-run" : "close",
      closed_at: document.closedAt,
      closed_by: document.closedBy,
      why: document.why,
      policy: document.policies[0]?.name ?? "",
      policies: JSON.stringify(document.policies),
      rules_hash: document.rules,
      price_book_hash: document.priceBook,
      currency: document.currency,
      ...columnsOf(document.total),
      unowned_cost: document.unowned,
      hash,
      document: text,
    },
  ]);
}

/** Reads the last dry run of a period; undefined if there was none. Fails with a `StoreError`. */
export async function lastDryRun(store: StoreClient, period: BillingPeriod): Promise<ClosingDocument | undefined> {
  const [row] = await store.query<{ document: string }>(
    `SELECT document FROM closings
     WHERE kind = 'dry-run' AND billing_period = toDate({period:String})
     ORDER BY recorded_at DESC LIMIT 1`,
    { period: dateText(period.from) },
  );
  return row === undefined ? undefined : (JSON.parse(row.document) as ClosingDocument);
}
