import { dateText, type BillingPeriod } from "../../domain/period.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Filter } from "../question/question.ts";
import { fromLines, type ChooseTable } from "../sums/tables.ts";
import { readReport } from "../report/read-report.ts";
import type { Measures } from "../report/report.ts";

/** The amount that a team and cost center pay for a month: exact, and posted when the month is closed. */
export interface Statement extends Measures {
  readonly team: string;
  readonly costCenter: string;
  /** Null in an open month, and under a policy that is not the billing policy: only all statements together are rounded. */
  readonly posted: string | null;
  /** SHA-256 of the closed statement; null where there is none. */
  readonly hash: string | null;
}

/** The statements of a month under a policy. */
export interface MonthStatements {
  readonly billingPeriod: string;
  readonly policy: string;
  readonly currency: string;
  /** The closer and the time (ISO 8601); null while the month is open and its statements may change. */
  readonly closed: { readonly by: string; readonly at: string } | null;
  /** The sum of the statements. Their costs add up to it exactly, and their posted amounts to its `posted`. */
  readonly total: Measures & { readonly posted: string | null };
  /** The order is by team and cost center. */
  readonly statements: readonly Statement[];
}

/** Reads the amounts of a month for each team and cost center that match the conditions, from its charges. Fails with a `StoreError`. */
export async function readStatements(
  store: StoreClient,
  of: { readonly period: BillingPeriod; readonly policy: string; readonly where: readonly Filter[] },
  currency: string,
  chooseTable: ChooseTable = fromLines,
): Promise<MonthStatements> {
  const { period, policy, where } = of;
  const question = { policy, kind: "chargeback", span: period, by: ["team", "costCenter"], where } as const;
  const [{ total, rows }, closing] = await Promise.all([
    readReport(store, question, { currency }, { isCompared: false, chooseTable }),
    readClosing(store, period),
  ]);
  const isBilled = closing?.policy === policy;
  const frozen = new Map((isBilled ? closing.statements : []).map((one) => [payerOf(one), one]));
  const statements = rows.map((row) => {
    const { dimensions, before: _, change: __, ...measures } = row;
    const { team = "", costCenter = "" } = dimensions;
    const { posted = null, hash = null } = frozen.get(payerOf({ team, costCenter })) ?? {};
    return { team, costCenter, ...measures, posted, hash };
  });
  const { before: _, change: __, ...measures } = total;
  return {
    billingPeriod: period.name,
    policy,
    currency: closing?.currency ?? currency,
    closed: closing === undefined ? null : { by: closing.by, at: closing.at },
    total: { ...measures, posted: isBilled && where.length === 0 ? closing.posted : null },
    statements: statements.toSorted((a, b) => (payerOf(a) < payerOf(b) ? -1 : 1)),
  };
}

function payerOf({ team, costCenter }: { readonly team: string; readonly costCenter: string }): string {
  return `${team}\0${costCenter}`;
}

interface Closing {
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
  readonly policy: string;
  readonly currency: string;
  readonly posted: string;
  readonly statements: readonly Readonly<Record<"team" | "costCenter" | "posted" | "hash", string>>[];
}

const CLOSING = `
SELECT toString(close_id) AS id, closed_by AS by, formatDateTime(closed_at, '%Y-%m-%dT%H:%i:%SZ', 'UTC') AS at, policy, currency,
  toString(posted) AS posted
FROM closings
WHERE kind = 'close' AND (billing_period, close_id) IN (
  SELECT billing_period, close_id FROM closed_periods WHERE billing_period = toDate({period:String}))
LIMIT 1`;

const FROZEN = `
SELECT team, cost_center AS costCenter, toString(posted) AS posted, hash
FROM statements WHERE billing_period = toDate({period:String}) AND close_id = toUUID({id:String})`;

/** Reads the closing of a month with its frozen statements; undefined if the month is open. */
async function readClosing(store: StoreClient, period: BillingPeriod): Promise<Closing | undefined> {
  const of = { period: dateText(period.from) };
  const [row] = await store.query<Omit<Closing, "statements"> & { readonly id: string }>(CLOSING, of);
  if (row === undefined) return undefined;
  const { id, ...closing } = row;
  return { ...closing, statements: await store.query<Closing["statements"][number]>(FROZEN, { ...of, id }) };
}
