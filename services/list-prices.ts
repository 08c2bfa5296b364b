import { hasBook, ledgerOf } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { insertRecords } from "../runtime/store/schema/records.ts";

/** The entry of the audit trail with which a ledger begins that has no price book. */
const BEGUN = "list prices";

const LEDGER = `SELECT (SELECT count() FROM audit WHERE what = '${BEGUN}') > 0 AS isBegun, (SELECT count() FROM runs) = 0 AS isEmpty`;

/**
 * Returns a configuration that has decided whether list prices apply, if it has left that to the ledger: they do where the ledger began without
 * a price book, or is empty. Metrics have no money by list prices, so no alert is about it. Fails with a `StoreError`.
 */
export async function withListPrices(config: Config, store: StoreClient): Promise<Config> {
  const { isBegun, isEmpty } = hasBook(config) ? NO_LEDGER : await readLedger(store);
  const decided = { ...config, listPrices: config.listPrices ?? (isBegun || isEmpty) };
  const isListPriced = ledgerOf(decided).book.isList === true;
  return isListPriced ? { ...decided, server: { ...config.server, moneyOnMetrics: false } } : decided;
}

const NO_LEDGER = { isBegun: false, isEmpty: false };

/**
 * Does the same for a process that charges, and records in an empty ledger that it begins with list prices. Later they apply because of the
 * record, so a ledger of a release without list prices keeps its GPU-hours. Fails with a `StoreError`.
 */
export async function beginListPrices(config: Config, store: StoreClient, now: number): Promise<Config> {
  const decided = await withListPrices(config, store);
  const { isBegun, isEmpty } = await readLedger(store);
  if (config.listPrices === undefined && isEmpty && !isBegun && ledgerOf(decided).book.isList === true)
    await insertRecords(store, "audit", [
      {
        at: new Date(now).toISOString(),
        who: "configuration",
        what: BEGUN,
        why: "the ledger is new and has no price book",
        subject: "prices",
        details: "{}",
      },
    ]);
  return decided;
}

async function readLedger(store: StoreClient): Promise<{ readonly isBegun: boolean; readonly isEmpty: boolean }> {
  const [ledger] = await store.query<{ isBegun: number; isEmpty: number }>(LEDGER);
  return { isBegun: Number(ledger!.isBegun) === 1, isEmpty: Number(ledger!.isEmpty) === 1 };
}
