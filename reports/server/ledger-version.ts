import { createHash } from "node:crypto";
import { pause } from "../../runtime/clock.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

/** The current publication of the ledger. */
export interface LedgerVersions {
  /**
   * Returns a short text that changes with every published run, every closed month, every run of the advice, every decision about a card,
   * and every hour; every few seconds while the ledger is empty. Fails with a `StoreError`.
   */
  current(): Promise<string>;
  /** Reads the publication again for the next request, after a change by this server. */
  forget(): void;
  /**
   * Checks for new publications. Each becomes current when `prepare` has made the data for its answers, so that no request waits for it. If
   * that takes longer than a publication may stay unseen, the publication becomes current before. Checks are rare while nobody asks for the
   * current one. Resolves when the signal is aborted.
   */
  watch(prepare: (ledgerVersion: string) => Promise<void>, signal: AbortSignal): Promise<void>;
}

const LOOK_MILLIS = 500;
/** The time without requests after which checks become rare, at that interval. A check costs the store as much as some hundred samples. */
const UNASKED_MILLIS = 60_000;
/** How long a result is valid. A new run is seen at most this time later. */
const STANDS_MILLIS = 2_000;
/** How long an answer about an empty ledger is valid. It has what was seen until now. */
const EMPTY_MILLIS = 5_000;

const PUBLISHED = `
SELECT (SELECT toString((count(), max(published_at), max(generation))) FROM runs WHERE kind IN ('charge', 'correction')) AS runs,
  (SELECT toString((count(), max(recorded_at))) FROM closings) AS closings,
  (SELECT toString((count(), max(made_at))) FROM advice_runs) AS advice,
  (SELECT toString((count(), max(at))) FROM advice_marks) AS marks,
  (SELECT count() FROM runs WHERE kind IN ('charge', 'correction')) = 0 AS isEmpty`;

/**
 * Reads the current publication from the store, once for several requests at a time. The text contains the hour, because spans such as `7d`
 * change with it. It contains `rules()`, because answers contain prices and owners.
 */
export function createLedgerVersions(
  store: Pick<StoreClient, "query">,
  rules: () => string,
  now: () => number,
): LedgerVersions {
  let read: { readonly at: number; readonly ledgerVersion: Promise<string> } | undefined;
  let askedAt = now();
  async function ask(at: number): Promise<string> {
    const [row] = await store.query<{ readonly isEmpty?: boolean | number }>(PUBLISHED);
    const valid = row?.isEmpty === true || row?.isEmpty === 1 ? EMPTY_MILLIS : HOUR_MILLIS;
    const text = JSON.stringify([row, Math.floor(at / valid), rules()]);
    return createHash("sha256").update(text).digest("base64url").slice(0, 16);
  }
  return {
    current() {
      const at = now();
      askedAt = at;
      if (read === undefined || at - read.at >= STANDS_MILLIS || at < read.at) {
        const asked = { at, ledgerVersion: ask(at) };
        read = asked;
        // A failed query is repeated by the next request.
        asked.ledgerVersion.catch(() => {
          if (read === asked) read = undefined;
        });
      }
      return read.ledgerVersion;
    },
    forget() {
      read = undefined;
    },
    async watch(prepare, signal) {
      let prepared: string | undefined;
      let lookAt = -Infinity;
      async function look(): Promise<void> {
        try {
          const ledgerVersion = await ask(now());
          if (ledgerVersion !== prepared) await prepare(ledgerVersion);
          prepared = ledgerVersion;
          read = { at: now(), ledgerVersion: Promise.resolve(ledgerVersion) };
        } catch {
          // Requests in that time get the error.
        }
        lookAt = now() + UNASKED_MILLIS;
      }
      while (!signal.aborted) {
        if (now() - askedAt < UNASKED_MILLIS || now() >= lookAt) await look();
        await pause(LOOK_MILLIS, signal);
      }
    },
  };
}
