import type { BillingPeriod } from "../../domain/period.ts";
import { payerKey } from "./document.ts";
import { readPeriodSums } from "./line-sums.ts";
import { readClosing } from "./records.ts";
import { statementsOf, type StatementSums } from "./statement.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** What a team and cost centre has to pay for a month: exact, and as it was posted once the month is closed. */
export interface MonthStatement extends Omit<StatementSums, "posted"> {
  /** Null in an open month, and under a policy that is not billed by: only all statements together are rounded. */
  readonly posted: string | null;
  /** SHA-256 of the closed statement; null where there is none. */
  readonly hash: string | null;
}

/** The statements of a month under a policy. */
export interface MonthStatements {
  readonly billingPeriod: string;
  readonly policy: string;
  readonly currency: string;
  /** Who closed the month, and when; null while it is open, and its statements may change. */
  readonly closed: { readonly by: string; readonly at: string } | null;
  /** In the order of team and cost centre. */
  readonly statements: readonly MonthStatement[];
}

/** Reads what a month comes to for one team or for all, from its charges. Fails with a `StoreError`. */
export async function readStatements(
  store: StoreClient,
  of: { readonly period: BillingPeriod; readonly policy: string; readonly team?: string | undefined },
  currency: string,
): Promise<MonthStatements> {
  const [sums, closing] = await Promise.all([readPeriodSums(store, of), readClosing(store, of.period)]);
  const isBilled = closing?.policies[0]?.name === of.policy;
  const frozen = new Map((isBilled ? closing.statements : []).map((one) => [payerKey(one), one]));
  return {
    billingPeriod: of.period.name,
    policy: of.policy,
    currency: closing?.currency ?? currency,
    closed: closing === undefined ? null : { by: closing.closedBy, at: closing.closedAt },
    statements: statementsOf(sums, currency).statements.map((statement) => {
      const { posted = null, hash = null } = frozen.get(payerKey(statement)) ?? {};
      return { ...statement, posted, hash };
    }),
  };
}
