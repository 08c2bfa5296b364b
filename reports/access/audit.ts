import type { Logger } from "pino";
import { systemClock, type Clock } from "../../runtime/clock.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { insertRecords } from "../../runtime/store/schema/records.ts";
import type { Viewer } from "./viewer.ts";
import { DAY_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

/** An entry of the audit trail about access. */
export interface AccessEntry {
  /** The name of the viewer; empty if it is unknown. */
  readonly who: string;
  readonly what:
    | "export begun"
    | "export"
    | "signed in"
    | "signed out"
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

/** The trail of tokens and of people that a proxy signs in. It never delays a request, and a failed entry is logged. */
export interface AccessTrail {
  /** Records that a token was used, or that a proxy has signed in a person: once a day for each. */
  used(what: "token used" | "signed in", viewer: Viewer, address: string): void;
  /** Records that a token was refused. If there are many in a minute, the rest is counted, and the next entry has their number. */
  refused(reason: string, details: AccessEntry["details"]): void;
}

/** The most entries in a minute that strangers cause, so that a flood of wrong tokens or of failed sign-ins does not fill the store. */
const STRANGERS_A_MINUTE = 60;

/**
 * Returns a function that adds entries which strangers cause. If there are many in a minute, the rest is counted, and the next entry has
 * their number. It never fails: an entry that cannot be added is logged.
 */
export function strangersTrail(
  record: RecordAudit,
  logger: Logger,
  { monotonicMillis }: Pick<Clock, "monotonicMillis"> = systemClock,
): RecordAudit {
  let minute = { at: -Infinity, entries: 0 };
  let unrecorded = 0;
  return async ({ details, ...entry }) => {
    const now = monotonicMillis();
    if (now - minute.at >= MINUTE_MILLIS) minute = { at: now, entries: 0 };
    minute.entries += 1;
    if (minute.entries > STRANGERS_A_MINUTE) {
      unrecorded += 1;
      return;
    }
    const more = unrecorded;
    unrecorded = 0;
    const all = more === 0 ? details : { ...details, unrecordedBefore: more };
    try {
      await record({ ...entry, details: all });
    } catch (error) {
      logger.warn({ err: error, what: entry.what }, NOT_STORED);
      unrecorded += more + 1;
    }
  };
}

const NOT_STORED = "an entry of the audit trail was not stored";

/** Creates the trail of a process. Another process, or this one after a restart, can record the same token on the same day again. */
export function createAccessTrail(
  record: RecordAudit,
  of: { readonly clock: Clock; readonly logger: Logger },
): AccessTrail {
  const { clock, logger } = of;
  let day = 0;
  const usedToday = new Set<string>();
  const recordRefused = strangersTrail(record, logger, clock);

  return {
    used(what, { name, subject = name }, address) {
      const today = Math.floor(clock.nowMillis() / DAY_MILLIS);
      if (today !== day) usedToday.clear();
      day = today;
      const key = `${what} ${subject}`;
      if (usedToday.has(key)) return;
      usedToday.add(key);
      record({ who: name, what, subject, details: { address } }).catch((error: unknown) => {
        logger.warn({ err: error, what }, NOT_STORED);
        usedToday.delete(key);
      });
    },
    refused(reason, details) {
      void recordRefused({ who: "", what: "access refused", subject: reason, details });
    },
  };
}
