import { dateText, type BillingPeriod } from "../../../domain/period.ts";
import { amountOf, formatAmount, sum } from "../../../domain/exact/units.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { readClosed, type ClosedPeriod } from "../closed/closed.ts";
import { payerKey, payerName, type ClosedStatement, type ClosingDocument } from "./document.ts";
import { frozenRuns } from "../closed/freeze.ts";
import { hashLines, type HashedLines } from "./line-hashes.ts";
import { readLineSums } from "./line-sums.ts";
import { columnsOf } from "./records.ts";
import { postedOf, sha256, statementsOf, type StatementDocument } from "./statement.ts";

/** A value of a closed period that differs from the closed value. */
export interface Deviation {
  readonly period: string;
  /** The name of the value: `the lines of vision`. */
  readonly what: string;
  readonly closed: string;
  readonly found: string;
}

/** The verification result of a closed period. */
export interface VerifiedPeriod {
  readonly period: string;
  readonly closedBy: string;
  /** ISO 8601. */
  readonly closedAt: string;
  readonly currency: string;
  readonly posted: string;
  readonly statements: number;
  readonly lines: number;
  readonly hash: string;
  /** Empty if everything is as it was closed. */
  readonly deviations: readonly Deviation[];
}

/**
 * Computes every hash of one or all closed periods again from the store: the closing's document, its frozen runs, each statement and all of
 * its lines. Checks that posted amounts add up, that sums match the closing, and that spreading conserved all amounts. Fails with a
 * `StoreError`.
 */
export async function verifyClosings(
  store: StoreClient,
  only: BillingPeriod | undefined,
): Promise<readonly VerifiedPeriod[]> {
  const { periods } = await readClosed(store);
  const verified: VerifiedPeriod[] = [];
  for (const closing of periods)
    if (only === undefined || closing.period.from === only.from) verified.push(await verifyClosing(store, closing));
  return verified;
}

async function verifyClosing(store: StoreClient, closing: ClosedPeriod): Promise<VerifiedPeriod> {
  const { period, closeId, closedBy, closedAt } = closing;
  const deviations: Deviation[] = [];
  const check: Check = (what, closed, found) => {
    if (closed !== found) deviations.push({ period: period.name, what, closed, found });
  };
  const { hash, text, columns } = await readKept(store, "closings", closing, "kind = 'close'").then((rows) => rows[0]!);
  check("the closing's document", hash, sha256(text));
  const document = JSON.parse(text) as ClosingDocument;
  checkColumns(check, "the closing", document.total, columns);
  const runs = await frozenRuns(store, closeId);
  check("the runs that were frozen", `${document.runs.count} ${document.runs.hash}`, `${runs.count} ${runs.hash}`);
  await checkStatements(store, closing, document, check);
  await checkSums(store, closing, document, check);
  for (const { policy, cluster, waited, spread } of await unconserved(store, closeId))
    check(`what ${policy} spread at the close in ${cluster}`, waited, spread);
  return {
    period: period.name,
    closedBy,
    closedAt: new Date(closedAt).toISOString(),
    currency: document.currency,
    posted: document.total.posted,
    statements: document.statements.length,
    lines: document.total.lines,
    hash,
    deviations,
  };
}

type Check = (what: string, closed: string, found: string) => void;

async function checkStatements(
  store: StoreClient,
  closing: ClosedPeriod,
  { statements, currency, policies, total }: ClosingDocument,
  check: Check,
): Promise<void> {
  const kept = new Map<string, Kept>();
  for (const row of await readKept(store, "statements", closing, "true")) {
    const statement = JSON.parse(row.text) as StatementDocument;
    if (kept.has(payerKey(statement))) check(`the statement of ${payerName(statement)}`, "one", "another one too");
    kept.set(payerKey(statement), row);
    if (!statements.some((one) => payerKey(one) === payerKey(statement)))
      check(`the statement of ${payerName(statement)}`, "none", row.hash);
  }
  const lines = new Map<string, HashedLines>();
  for (const hashed of await hashLines(store, { closeId: closing.closeId, policy: policies[0]!.name })) {
    lines.set(payerKey(hashed), hashed);
    if (!statements.some((one) => payerKey(one) === payerKey(hashed)))
      check(`the lines of ${payerName(hashed)}`, "none", hashed.hash);
  }
  for (const statement of statements) checkStatement(statement, kept, lines, check);
  const effective = statements.map((statement) => amountOf<"currency">(statement.effective));
  const posted = postedOf(effective, currency).map(formatAmount);
  for (const [index, statement] of statements.entries())
    check(`the posted amount of ${payerName(statement)}`, statement.posted, posted[index]!);
  check("the posted total", total.posted, formatAmount(sum(statements.map((one) => amountOf<"currency">(one.posted)))));
  check("the total", total.effective, formatAmount(sum(effective)));
}

function checkStatement(
  closed: ClosedStatement,
  kept: ReadonlyMap<string, Kept>,
  lines: ReadonlyMap<string, HashedLines>,
  check: Check,
): void {
  const name = payerName(closed);
  const row = kept.get(payerKey(closed));
  if (row === undefined) return check(`the statement of ${name}`, closed.hash, "none");
  check(`the statement of ${name}`, closed.hash, row.hash);
  check(`the document of ${name}'s statement`, row.hash, sha256(row.text));
  const document = JSON.parse(row.text) as StatementDocument;
  checkColumns(check, `the statement of ${name}`, document, row.columns);
  const hashed = lines.get(payerKey(closed));
  check(`the lines of ${name}`, document.linesHash, hashed?.hash ?? "none");
  check(`the cost of ${name}'s lines`, document.effective, hashed?.effective ?? "0");
  check(`the GPU-hours of ${name}'s lines`, document.gpuHours, hashed?.gpuHours ?? "0");
}

/** Checks the sums of the closing: the period's own cost, corrections of other periods, and true-ups. */
async function checkSums(
  store: StoreClient,
  { closeId }: ClosedPeriod,
  { policies, currency, total, unowned }: ClosingDocument,
  check: Check,
): Promise<void> {
  const policy = policies[0]!.name;
  const sums = await readLineSums(store, { closeId, policy, kinds: ["charge", "correction", "close"] });
  const found = statementsOf(sums, currency);
  for (const name of Object.keys(total) as (keyof typeof total)[])
    check(`the total's ${name}`, String(total[name]), String(found.total[name]));
  check("the unowned cost", unowned, found.unowned);
}

function checkColumns(check: Check, name: string, document: Parameters<typeof columnsOf>[0], found: Columns): void {
  for (const [column, value] of Object.entries(columnsOf(document)))
    check(`${name}, column ${column}`, String(value), String(found[column]));
}

type Columns = Readonly<Record<string, string | number>>;

/** A row with a document: the document's text and hash, and the columns with the same values. */
interface Kept {
  readonly hash: string;
  readonly text: string;
  readonly columns: Columns;
}

async function readKept(
  store: StoreClient,
  table: "closings" | "statements",
  { closeId, period }: ClosedPeriod,
  where: string,
): Promise<readonly Kept[]> {
  const rows = await store.query<Columns & { readonly hash: string; readonly document: string }>(
    `SELECT * FROM ${table}
     WHERE billing_period = toDate({period:String}) AND close_id = toUUID({close:String}) AND ${where}`,
    { close: closeId, period: dateText(period.from) },
  );
  return rows.map(({ hash, document, ...columns }) => ({ hash, text: document, columns }));
}

/**
 * Returns the policies and clusters for which the lines that waited to be spread differ in sum from the lines that the close made of them.
 * Empty if every sum is exact.
 */
async function unconserved(
  store: StoreClient,
  closeId: string,
): Promise<
  readonly { readonly policy: string; readonly cluster: string; readonly waited: string; readonly spread: string }[]
> {
  const sums =
    "sum(gpu_hours), sum(ifNull(list_cost, 0)), sum(ifNull(contracted_cost, 0)), sum(ifNull(effective_cost, 0))";
  const runsOf = (kind: string): string =>
    `run_id IN (SELECT run_id FROM closed_runs WHERE close_id = toUUID({close:String}) AND kind = '${kind}')`;
  return store.query(
    `SELECT policy, cluster, toString(any_waited) AS waited, toString(any_spread) AS spread FROM (
       SELECT policy, cluster, anyIf(amounts, isWaiting) AS any_waited, anyIf(amounts, NOT isWaiting) AS any_spread FROM (
         SELECT policy, cluster, true AS isWaiting, tuple(${sums}) AS amounts FROM charges
         WHERE payer = 'spread' AND ${runsOf("charge")} GROUP BY policy, cluster
         UNION ALL
         SELECT policy, cluster, false AS isWaiting, tuple(${sums}) AS amounts FROM charges
         WHERE state NOT IN ('true-up', 'markup') AND ${runsOf("close")} GROUP BY policy, cluster
       ) GROUP BY policy, cluster
     )
     WHERE any_waited != any_spread`,
    { close: closeId },
  );
}
