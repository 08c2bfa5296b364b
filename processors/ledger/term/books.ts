import type { StoreClient } from "../../../runtime/store/client.ts";
import { readClosed, type Closed } from "../closed/closed.ts";
import { firstCharged } from "../closing/readiness.ts";
import { readLives, type Life } from "../hours/hours-to-meter.ts";
import type { LedgerRules } from "../charging/rules.ts";
import { staleCharges, type StaleWindow } from "../hours/stale-hours.ts";

/** The version of the current runs and closings. */
export interface BooksVersion {
  /** The highest generation that was ever written; 0 if none was. */
  readonly generation: number;
  /** Differs after every write. */
  readonly text: string;
}

/** Reads the version of the books, in one cheap query. Fails with a `StoreError`. */
export async function readBooksVersion(store: StoreClient): Promise<BooksVersion> {
  const [row] = await store.query<{ generation: string; text: string }>(`
    SELECT (SELECT max(generation) FROM runs) AS generation,
      toString(((SELECT (count(), max(published_at)) FROM runs), (SELECT (count(), max(recorded_at)) FROM closings))) AS text`);
  return { generation: Number(row?.generation ?? 0), text: row?.text ?? "" };
}

/** The state of the books for scheduling hours. */
export interface Books {
  readonly closed: Closed;
  readonly lives: readonly Life[];
  readonly stale: readonly StaleWindow[];
  /** When the first charged hour began, milliseconds since the epoch. */
  readonly begun: number | undefined;
}

/** Reads the books, and the open hours since `since`. Fails with a `StoreError`. */
export async function readBooks(
  store: StoreClient,
  rules: LedgerRules,
  { since, now }: { readonly since: number; readonly now: number },
): Promise<Books> {
  const closed = await readClosed(store);
  return {
    closed,
    lives: await readLives(store, { since, now }, rules.absentAfterMillis),
    stale: await staleCharges(store, rules, { from: -Infinity, openSince: closed.openSince }),
    begun: await firstCharged(store),
  };
}
