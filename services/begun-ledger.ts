import { readsReserved } from "../domain/owner/reserved.ts";
import { hasBook, ledgerOf } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { insertRecords } from "../runtime/store/schema/records.ts";

/** The entry of the audit trail with which a ledger begins that has no price book. */
const BEGUN = "list prices";

const LEDGER = `
SELECT
  (SELECT count() FROM audit WHERE what = '${BEGUN}') > 0 AS isBegun,
  (SELECT count() FROM runs) = 0 AS isEmpty,
  (SELECT groupUniqArray(team) FROM charges_summed) AS teams`;

/**
 * Returns a configuration with what it leaves to the ledger. List prices apply where the ledger began without a price book, or is empty; metrics
 * have no money by list prices, so no alert is about it. A team of the ledger's charges keeps its name, also if a later release reserves it. Fails
 * with a `StoreError`.
 */
export async function withLedger(config: Config, store: StoreClient): Promise<Config> {
  return decide(config, await readLedger(store));
}

/**
 * Does the same for a process that charges, and records in an empty ledger that it begins with list prices. Later they apply because of the
 * record, so a ledger of a release without list prices keeps its GPU-hours. Fails with a `StoreError`.
 */
export async function beginLedger(config: Config, store: StoreClient, now: number): Promise<Config> {
  const ledger = await readLedger(store);
  const decided = decide(config, ledger);
  const isNew = ledger.isEmpty && !ledger.isBegun;
  if (config.listPrices === undefined && isNew && ledgerOf(decided).book.isList === true)
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

interface BegunLedger {
  readonly isBegun: boolean;
  readonly isEmpty: boolean;
  readonly teams: readonly string[];
}

function decide(config: Config, { isBegun, isEmpty, teams }: BegunLedger): Config {
  const listPrices = config.listPrices ?? (!hasBook(config) && (isBegun || isEmpty));
  const decided = { ...config, listPrices, chargedTeams: teams.filter(readsReserved) };
  const isListPriced = ledgerOf(decided).book.isList === true;
  return isListPriced ? { ...decided, server: { ...config.server, moneyOnMetrics: false } } : decided;
}

async function readLedger(store: StoreClient): Promise<BegunLedger> {
  const [ledger] = await store.query<{ isBegun: number; isEmpty: number; teams: readonly string[] }>(LEDGER);
  const { isBegun, isEmpty, teams } = ledger!;
  return { isBegun: Number(isBegun) === 1, isEmpty: Number(isEmpty) === 1, teams };
}
