import { createHash } from "node:crypto";
import { pause } from "../../runtime/clock.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

/** Tells which publication of the ledger stands. */
export interface Editions {
  /** A short text that changes with every run that is published, every month that is closed, and every hour. Fails with a `StoreError`. */
  current(): Promise<string>;
  /**
   * Looks for new publications, and tells each of them once `prepare` has made what answers about it need, so that nobody waits for that;
   * where it takes longer than a publication may stay unseen, it is told before. While nobody asks which one stands, it looks seldom.
   * Resolves when the signal is aborted.
   */
  watch(prepare: (edition: string) => Promise<void>, signal: AbortSignal): Promise<void>;
}

const LOOK_MILLIS = 500;
/** Where nobody has asked for so long it is looked for that seldom, as a look costs the store what some hundred samples do. */
const UNASKED_MILLIS = 60_000;
/** For so long what was read stands: a newly published run is seen at most so much later. */
const STANDS_MILLIS = 2_000;

const PUBLISHED = `
SELECT (SELECT toString((count(), max(published_at), max(generation))) FROM runs WHERE kind IN ('charge', 'correction')) AS runs,
  (SELECT toString((count(), max(recorded_at))) FROM closings) AS closings`;

/**
 * Reads from the store which publication stands, of several who ask at once for one of them. The hour is in it, as spans such as `7d` are
 * of other hours then; what `rules` gives is, as what prices and owners say is told too.
 */
export function createEditions(store: Pick<StoreClient, "query">, rules: () => string, now: () => number): Editions {
  let read: { readonly at: number; readonly edition: Promise<string> } | undefined;
  let askedAt = now();
  async function ask(at: number): Promise<string> {
    const [row] = await store.query<{ readonly runs: string; readonly closings: string }>(PUBLISHED);
    const told = JSON.stringify([row, Math.floor(at / HOUR_MILLIS), rules()]);
    return createHash("sha256").update(told).digest("base64url").slice(0, 16);
  }
  return {
    current() {
      const at = now();
      askedAt = at;
      if (read === undefined || at - read.at >= STANDS_MILLIS || at < read.at) {
        const asked = { at, edition: ask(at) };
        read = asked;
        // What failed is asked again by whoever comes next.
        asked.edition.catch(() => {
          if (read === asked) read = undefined;
        });
      }
      return read.edition;
    },
    async watch(prepare, signal) {
      let prepared: string | undefined;
      let lookAt = -Infinity;
      async function look(): Promise<void> {
        try {
          const edition = await ask(now());
          if (edition !== prepared) await prepare(edition);
          prepared = edition;
          read = { at: now(), edition: Promise.resolve(edition) };
        } catch {
          // Whoever asks meanwhile is told why.
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
