import type { StoreClient } from "../../../runtime/store/client.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";

/** An action of a person on money, or on who may see it. */
export interface AuditEntry {
  /** ISO 8601. */
  readonly at: string;
  readonly who: string;
  /** `close`, `dry-run`, `close that came second`, `rules`, `token created`, `token revoked`. */
  readonly what: string;
  readonly why: string;
  /** The subject of the action: a billing period, the configuration, or a token by its name and id. */
  readonly subject: string;
  /** JSON. */
  readonly details: string;
}

/** Reads all actions since a time, oldest first. Fails with a `StoreError`. */
export async function readAudit(store: StoreClient, sinceMillis: number): Promise<readonly AuditEntry[]> {
  return store.query<AuditEntry>(
    `SELECT formatDateTime(at, '%Y-%m-%dT%H:%i:%S.%fZ', 'UTC') AS at, who, what, why, subject, details
     FROM audit_trail AS entry WHERE entry.at >= fromUnixTimestamp64Milli({since:Int64})
     ORDER BY entry.at, what, subject`,
    { since: sinceMillis },
  );
}

/**
 * Records that the ledger charges by other rules from now on, because prices, owners or policies in the configuration have changed. Writes
 * nothing if the rules are the last recorded ones. Fails with a `StoreError`.
 */
export async function auditRules(
  store: StoreClient,
  rules: { readonly hash: string; readonly booksHash: string },
  now: number,
): Promise<void> {
  const details = JSON.stringify(rules);
  const [last] = await store.query<{ details: string }>(
    "SELECT details FROM audit WHERE what = 'rules' ORDER BY at DESC LIMIT 1",
  );
  if (last?.details === details) return;
  await insertRecords(store, "audit", [
    {
      at: new Date(now).toISOString(),
      who: "configuration",
      what: "rules",
      why: "",
      subject: "prices, owners and policies",
      details,
    },
  ]);
}
