import type { StoreClient } from "../../../runtime/store/client.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";

/** An action of a person on money, on who may see it, or on figures: an export, a sign-in, or a refused token. */
export interface AuditEntry {
  /** ISO 8601. */
  readonly at: string;
  readonly who: string;
  /** For example `close`, `rules`, `token created`, `signed in`, `export`; docs/access.md has all. */
  readonly what: string;
  readonly why: string;
  /** The subject of the action: a billing period, the configuration, or a token by its name and id. */
  readonly subject: string;
  /** JSON. */
  readonly details: string;
}

/** The selected entries of the audit trail. Times are milliseconds since the epoch; `who` and `what` are names or globs. */
export interface AuditFilter {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  readonly who?: string | undefined;
  readonly what?: string | undefined;
}

/** Reads the audit trail, oldest entry first. Fails with a `StoreError`. */
export async function readAudit(
  store: StoreClient,
  { from, until, who, what }: AuditFilter = {},
): Promise<readonly AuditEntry[]> {
  const conditions = [
    ...(from === undefined ? [] : ["entry.at >= fromUnixTimestamp64Milli({from:Int64})"]),
    ...(until === undefined ? [] : ["entry.at < fromUnixTimestamp64Milli({until:Int64})"]),
    ...(who === undefined ? [] : ["entry.who LIKE {who:String}"]),
    ...(what === undefined ? [] : ["entry.what LIKE {what:String}"]),
  ];
  return store.query<AuditEntry>(
    `SELECT formatDateTime(at, '%Y-%m-%dT%H:%i:%S.%fZ', 'UTC') AS at, who, what, why, subject, details
     FROM audit_trail AS entry WHERE ${["true", ...conditions].join(" AND ")}
     ORDER BY entry.at, what, subject`,
    { from, until, who: who && likeOf(who), what: what && likeOf(what) },
  );
}

/** Returns a glob as a pattern of `LIKE`. */
function likeOf(glob: string): string {
  return glob
    .replaceAll(/[\\%_]/g, "\\$&")
    .replaceAll("*", "%")
    .replaceAll("?", "_");
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
