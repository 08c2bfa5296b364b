import type { InvoiceLine } from "../../../domain/charge/invoice.ts";
import type { BillingPeriod } from "../../../domain/period.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { createChargeInserts } from "../charging/charge-inserts.ts";
import { newRunId } from "../runs/runs.ts";
import { CloseError } from "./close-error.ts";
import { closeLines } from "./close-lines.ts";
import { differencesBetween, invoiceDocument, payerKey, type ClosingDocument, type Difference } from "./document.ts";
import { freezeRuns, frozenRuns } from "../closed/freeze.ts";
import { createFrozenWeights } from "../closed/frozen.ts";
import { compareInvoice, type InvoiceContext } from "./invoiced.ts";
import { hashLines, type HashedLines } from "./line-hashes.ts";
import { createLineSumming, readLineSums } from "./line-sums.ts";
import { insertClosing, insertStatements, lastDryRun } from "./records.ts";
import { readReadiness, refuseUnlessReady, type CloseRules, type Readiness } from "./readiness.ts";
import { sealed, statementsOf, type StatementDocument, type Statements } from "./statement.ts";
import { readClosed } from "../closed/closed.ts";

/** The request to close a period, with its author and reason. */
export interface CloseRequest {
  readonly period: BillingPeriod;
  readonly by: string;
  readonly why: string;
  /** Empty if nothing was invoiced, or not yet. */
  readonly invoice: readonly InvoiceLine[];
  /** A dry run shows what would be frozen. It closes nothing. */
  readonly isDryRun: boolean;
  /** True if the exports of providers' bills may be without an invoice. */
  readonly isProvisional?: boolean;
}

/** The settings of a close. */
export interface CloseSetting extends CloseRules {
  /** The kept policies, the billing policy first. */
  readonly policies: readonly [Policy, ...Policy[]];
  readonly priceBookHash: string;
  readonly accounts: InvoiceContext["accounts"];
}

/** The result of a close or a dry run. */
export interface CloseReport extends Readiness {
  readonly closeId: string;
  readonly isDryRun: boolean;
  readonly document: ClosingDocument;
  /** The differences to the last dry run of the period; undefined if there was none. */
  readonly differences: readonly Difference[] | undefined;
}

/**
 * Closes a billing period, or shows what a close would freeze: the current runs of its hours, the lines to be spread over days or the
 * period, true-ups from an invoice, and a statement for each team and cost center (docs/closing.md). One insert at the end makes everything
 * valid. Rows that a crash leaves before that are never visible. Fails with a {@link CloseError} if the period is not ready or another
 * close was first, or with a `StoreError`.
 */
export async function closePeriod(
  store: StoreClient,
  request: CloseRequest,
  setting: CloseSetting,
  now: number,
): Promise<CloseReport> {
  const { period, isDryRun, isProvisional = false } = request;
  const readiness = await readReadiness(store, period, { ...setting, isProvisional }, now);
  if (!isDryRun) refuseUnlessReady(readiness);
  const closeId = newRunId();
  await freezeRuns(store, period, closeId, now);
  const { statements, invoice } = await bookLines(store, request, setting, closeId);
  const kept = isDryRun ? [] : await keepStatements(store, statements, { request, setting, closeId });
  const { total, unowned } = statements;
  const document: ClosingDocument = {
    format: "gpu-ledger closing 1",
    billingPeriod: period.name,
    closedAt: new Date(now).toISOString(),
    closedBy: request.by,
    why: request.why,
    currency: setting.rules.charge.book.currency,
    policies: setting.policies,
    priceBook: setting.priceBookHash,
    rules: setting.rules.hash,
    runs: await frozenRuns(store, closeId),
    total,
    unowned,
    invoice,
    statements: statements.statements.map(({ team, costCenter, effective, posted, gpuHours }, index) => ({
      team,
      costCenter,
      effective,
      posted,
      gpuHours,
      hash: kept[index] ?? "",
    })),
  };
  const before = await lastDryRun(store, period);
  await insertClosing(store, { period, closeId, isDryRun, document });
  if (!isDryRun) await refuseUnlessFirst(store, period, closeId);
  const differences = before === undefined ? undefined : differencesBetween(before, document);
  return { ...readiness, closeId, isDryRun, document, differences };
}

/** Books the lines that the close adds to each policy. A dry run only sums them. */
async function bookLines(
  store: StoreClient,
  { period, invoice, isDryRun }: CloseRequest,
  { policies, rules, accounts }: CloseSetting,
  closeId: string,
): Promise<{ readonly statements: Statements; readonly invoice: ClosingDocument["invoice"] }> {
  const { currency, markup } = rules.charge.book;
  const [billing] = policies;
  const invoiced = await compareInvoice(store, invoice, { currency, accounts }, { closeId, policy: billing.name });
  const input = { period, closeId, markup, invoiced, weights: createFrozenWeights(store) };
  const summing = createLineSumming();
  for (const policy of isDryRun ? [billing] : policies) {
    const inserts = createChargeInserts(store, { run: closeId, policy: policy.name, billingPeriod: period.from });
    for await (const charges of closeLines(store, policy, input)) {
      if (policy === billing) summing.add(charges);
      if (!isDryRun) await inserts.add(charges);
    }
    await inserts.end();
  }
  const frozen = await readLineSums(store, { closeId, policy: billing.name, kinds: ["charge", "correction"] });
  return { statements: statementsOf([...frozen, ...summing.sums], currency), invoice: invoiceDocument(invoiced) };
}

/**
 * Stores the statements with the hashes of their lines, after a check that the lines sum to them. Returns the hashes of the statements, in
 * order.
 */
async function keepStatements(
  store: StoreClient,
  { statements }: Statements,
  of: { readonly request: CloseRequest; readonly setting: CloseSetting; readonly closeId: string },
): Promise<readonly string[]> {
  const { request, setting, closeId } = of;
  const { period } = request;
  const [policy] = setting.policies;
  const lines = new Map<string, HashedLines>();
  for (const hashed of await hashLines(store, { closeId, policy: policy.name })) lines.set(payerKey(hashed), hashed);
  const documents = statements.map((statement): StatementDocument => {
    const hashed = lines.get(payerKey(statement));
    if (
      hashed?.lines !== statement.lines ||
      hashed.effective !== statement.effective ||
      hashed.gpuHours !== statement.gpuHours
    )
      throw new CloseError(
        "breach",
        `the lines of ${statement.team} do not sum to its statement: ${hashed?.effective ?? "none"}, expected ${statement.effective}`,
      );
    return {
      format: "gpu-ledger statement 1",
      billingPeriod: period.name,
      currency: setting.rules.charge.book.currency,
      policy,
      priceBook: setting.priceBookHash,
      rules: setting.rules.hash,
      ...statement,
      linesHash: hashed.hash,
    };
  });
  const kept = documents.map((document) => ({ document, ...sealed(document) }));
  await insertStatements(store, { period, closeId }, kept);
  return kept.map(({ hash }) => hash);
}

async function refuseUnlessFirst(store: StoreClient, period: BillingPeriod, closeId: string): Promise<void> {
  const first = (await readClosed(store)).periods.find((one) => one.period.from === period.from);
  if (first === undefined || first.closeId === closeId) return;
  throw new CloseError(
    "already-closed",
    `${period.name} is closed: ${first.closedBy} closed it first, at ${new Date(first.closedAt).toISOString()}. This close has no effect`,
  );
}
