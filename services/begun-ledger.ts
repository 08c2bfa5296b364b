import { readsReserved } from "../domain/owner/reserved.ts";
import { hasBook, ledgerOf } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { insertRecords } from "../runtime/store/schema/records.ts";

/** The entry of the audit trail with which a ledger begins that has no price book. */
const LIST_PRICED = "list prices";

/** The entry of the audit trail with which a ledger begins in a release that has FOCUS 1.4. */
const FOCUS_1_4 = "FOCUS 1.4";

const LEDGER = `
SELECT
  (SELECT groupUniqArray(what) FROM audit WHERE what IN ('${LIST_PRICED}', '${FOCUS_1_4}')) AS begunWith,
  (SELECT count() FROM runs) = 0 AS isEmpty,
  (SELECT groupUniqArray(team) FROM charges_summed) AS teams`;

/**
 * Returns a configuration with what it leaves to the ledger. List prices apply where the ledger began without a price book, or is empty; metrics
 * have no money by list prices, so no alert is about it. Files of FOCUS are of 1.4 where the ledger began with it, or is empty, and else of 1.3. A team of the ledger's charges keeps its name, also if a later release reserves it. Fails
 * with a `StoreError`.
 */
export async function withLedger(config: Config, store: StoreClient): Promise<Config> {
  return decide(config, await readLedger(store));
}

/**
 * Does the same for a process that charges, and records in an empty ledger that it begins with list prices and with FOCUS 1.4. Later they apply
 * because of the record, so a ledger of a release without list prices keeps its GPU-hours, and one of a release without FOCUS 1.4 its files of
 * 1.3. Fails with a `StoreError`.
 */
export async function beginLedger(config: Config, store: StoreClient, now: number): Promise<Config> {
  const ledger = await readLedger(store);
  const decided = decide(config, ledger);
  const begin = (what: string, why: string, subject: string): readonly AuditRow[] =>
    ledger.begunWith.includes(what)
      ? []
      : [{ at: new Date(now).toISOString(), who: "configuration", what, why, subject, details: "{}" }];
  const isListPriced = config.listPrices === undefined && ledgerOf(decided).book.isList === true;
  const rows = [
    ...(isListPriced ? begin(LIST_PRICED, "the ledger is new and has no price book", "prices") : []),
    ...begin(FOCUS_1_4, "the ledger is new", "focus"),
  ];
  if (ledger.isEmpty && rows.length > 0) await insertRecords(store, "audit", rows);
  return decided;
}

type AuditRow = Readonly<Record<"at" | "who" | "what" | "why" | "subject" | "details", string>>;

interface BegunLedger {
  /** The entries of the audit trail with which the ledger began. */
  readonly begunWith: readonly string[];
  readonly isEmpty: boolean;
  readonly teams: readonly string[];
}

function decide(config: Config, { begunWith, isEmpty, teams }: BegunLedger): Config {
  const hasBegun = (what: string): boolean => isEmpty || begunWith.includes(what);
  const listPrices = config.listPrices ?? (!hasBook(config) && hasBegun(LIST_PRICED));
  const focus = { ...config.focus, version: config.focus.version ?? (hasBegun(FOCUS_1_4) ? "1.4" : "1.3") } as const;
  const decided = { ...config, listPrices, focus, chargedTeams: teams.filter(readsReserved) };
  const isListPriced = ledgerOf(decided).book.isList === true;
  return isListPriced ? { ...decided, server: { ...config.server, moneyOnMetrics: false } } : decided;
}

async function readLedger(store: StoreClient): Promise<BegunLedger> {
  const [ledger] = await store.query<{ begunWith: readonly string[]; isEmpty: number; teams: readonly string[] }>(
    LEDGER,
  );
  return { ...ledger!, isEmpty: Number(ledger!.isEmpty) === 1 };
}
