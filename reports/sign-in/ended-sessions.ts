import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { StoreClient } from "../../runtime/store/client.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import type { RecordAudit } from "../access/audit.ts";

/** The sessions that people have ended by logging out. Their cookies may still exist elsewhere. */
export interface EndedSessions {
  /** Ends a session: at once on this server, on others within some seconds, unless the store is away. */
  add(id: string, who: string): Promise<void>;
  /** While the store is away, the last known sessions count. */
  has(id: string): Promise<boolean>;
}

/** How long the ended sessions that were read count. */
const FRESH_MILLIS = 3_000;

const ENDED = `SELECT DISTINCT subject FROM audit WHERE what = 'signed out' AND at >= fromUnixTimestamp64Milli({since:Int64})`;

/** Creates the ended sessions of a store, as entries of the audit trail. `sessionMillis` is the longest time of a session. */
export function createEndedSessions(
  store: StoreClient,
  record: RecordAudit,
  of: { readonly sessionMillis: number; readonly now: () => number; readonly logger: Logger },
): EndedSessions {
  const { sessionMillis, now, logger } = of;
  const own = new Map<string, number>();
  let known: ReadonlySet<string> = new Set();
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const at = now();
    try {
      const rows = await store.query<{ subject: string }>(ENDED, { since: at - sessionMillis });
      known = new Set(rows.map(({ subject }) => subject));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
    readAt = at;
    for (const [hash, endedAt] of own) if (at - endedAt > sessionMillis) own.delete(hash);
  }

  return {
    async add(id, who) {
      const hash = hashOf(id);
      own.set(hash, now());
      try {
        await record({ who, what: "signed out", subject: hash, details: {} });
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        logger.warn({ err: error }, "a log-out is known to this server alone, because the store is away");
      }
    },
    async has(id) {
      const hash = hashOf(id);
      if (own.has(hash)) return true;
      if (now() - readAt >= FRESH_MILLIS) await (reading ??= read().finally(() => (reading = undefined)));
      return known.has(hash);
    },
  };
}

/** The trail has a hash of the id, because readers of the trail must not learn anything of a session. */
function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 16);
}
