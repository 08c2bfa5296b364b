import type { StoreClient } from "../../../runtime/store/client.ts";
import { readClosed, type Closed } from "../closing/closed.ts";
import { firstCharged } from "../closing/readiness.ts";
import { readLives, type Life } from "./hours-to-meter.ts";
import type { LedgerRules } from "../hours/rules.ts";
import { staleCharges, type StaleWindow } from "../hours/stale-hours.ts";

/** Where the runs and closings stand. */
export interface BooksMark {
  /** The highest that was ever written; 0 where none was. */
  readonly generation: number;
  /** Another one after everything that is written. */
  readonly text: string;
}

/** Reads where the books stand, in one cheap question. Fails with a `StoreError`. */
export async function readMark(store: StoreClient): Promise<BooksMark> {
  const [row] = await store.query<{ generation: string; text: string }>(`
    SELECT (SELECT max(generation) FROM runs) AS generation,
      toString(((SELECT (count(), max(published_at)) FROM runs), (SELECT (count(), max(recorded_at)) FROM closings))) AS text`);
  return { generation: Number(row?.generation ?? 0), text: row?.text ?? "" };
}

/** What the books say of the hours. */
export interface Books {
  readonly closed: Closed;
  readonly lives: readonly Life[];
  readonly stale: readonly StaleWindow[];
  /** When the first hour that was ever charged began. */
  readonly begun: number | undefined;
}

/** Reads them. Fails with a `StoreError`. */
export async function readBooks(store: StoreClient, rules: LedgerRules, now: number): Promise<Books> {
  const closed = await readClosed(store);
  return {
    closed,
    lives: await readLives(store, now, rules.absentAfterMillis),
    stale: await staleCharges(store, rules, { from: -Infinity, openSince: closed.openSince }),
    begun: await firstCharged(store),
  };
}
