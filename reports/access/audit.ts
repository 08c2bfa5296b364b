import type { Logger } from "pino";
import type { Clock } from "../../runtime/clock.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { insertRecords } from "../../runtime/store/schema/records.ts";
import { DAY_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

/** An entry of the audit trail about access. */
export interface AccessEntry {
  /** The name of the viewer; empty if it is unknown. */
  readonly who: string;
  readonly what:
    | "export begun"
    | "export"
    | "signed in"
    | "sign-in failed"
    | "sign-in refused"
    | "token used"
    | "access refused";
  /** The question, the issuer, the token, or the reason. */
  readonly subject: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

/** Adds an entry to the audit trail. Fails with a `StoreError`. */
export type RecordAudit = (entry: AccessEntry) => Promise<void>;

/** Returns the function that adds entries to the audit trail of a store. */
export function recordAudit(store: StoreClient, now: () => number): RecordAudit {
  return async ({ details, ...entry }) => {
    const at = new Date(now()).toISOString();
    await insertRecords(store, "audit", [{ at, ...entry, why: "", details: JSON.stringify(details) }]);
  };
}

/** The trail of tokens: used, and refused. It never delays a request, and a failed entry is logged. */
export interface AccessTrail {
  /** Records that a token was used: once a day for each token. */
  used(name: string, address: string): void;
  /** Records that a token was refused. If there are many in a minute, the rest is counted, and the next entry has their number. */
  refused(reason: string, details: AccessEntry["details"]): void;
}

/** The most entries of refused tokens in a minute, so that a flood of wrong tokens does not fill the store. */
const REFUSED_A_MINUTE = 60;

/** Creates the trail of a process. Another process, or this one after a restart, can record the same token on the same day again. */
export function createAccessTrail(
  record: RecordAudit,
  of: { readonly clock: Clock; readonly logger: Logger },
): AccessTrail {
  const { clock, logger } = of;
  let day = 0;
  const usedToday = new Set<string>();
  let minute = { at: -Infinity, entries: 0 };
  let unrecorded = 0;

  const add = (entry: AccessEntry, onFailure: () => void): void =>
    void record(entry).catch((error: unknown) => {
      logger.warn({ err: error, what: entry.what }, "an entry of the audit trail was not stored");
      onFailure();
    });

  return {
    used(name, address) {
      const today = Math.floor(clock.nowMillis() / DAY_MILLIS);
      if (today !== day) usedToday.clear();
      day = today;
      if (usedToday.has(name)) return;
      usedToday.add(name);
      add({ who: name, what: "token used", subject: name, details: { address } }, () => usedToday.delete(name));
    },
    refused(reason, details) {
      const now = clock.monotonicMillis();
      if (now - minute.at >= MINUTE_MILLIS) minute = { at: now, entries: 0 };
      minute.entries += 1;
      if (minute.entries > REFUSED_A_MINUTE) {
        unrecorded += 1;
        return;
      }
      const more = unrecorded;
      unrecorded = 0;
      const all = more === 0 ? details : { ...details, unrecordedBefore: more };
      add({ who: "", what: "access refused", subject: reason, details: all }, () => (unrecorded += more + 1));
    },
  };
}
