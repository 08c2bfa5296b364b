import { formatAmount, amountOf } from "../../domain/exact/units.ts";
import { closesFrom, periodOf, periodsDue } from "../../domain/period.ts";
import { breachSentence, standingBreaches } from "../../processors/ledger/runs/breaches.ts";
import { readClosed } from "../../processors/ledger/closed/closed.ts";
import { firstCharged } from "../../processors/ledger/closing/readiness.ts";
import { hasBook, ledgerOf } from "../../runtime/config/ledger.ts";
import { LIST_PRICED } from "../../runtime/config/list-prices.ts";
import { withLedger } from "../../services/begun-ledger.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { MIGRATIONS_FOLDER } from "../../runtime/store/connection.ts";
import { listPendingMigrations } from "../../runtime/store/migrate.ts";
import { openStore } from "../store.ts";
import type { Finding } from "./finding.ts";
import { teamsAlike } from "./teams.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

const DAYS = 7;
const LATELY = `the last ${DAYS} days`;

/** SQL for usage without a price under the billing policy, largest first. */
const UNPRICED = `
SELECT gpu_model AS model, instance_type AS instanceType, toString(sum(gpu_hours)) AS hours
FROM charges_published
WHERE policy = {policy:String} AND effective_cost IS NULL AND from_at >= fromUnixTimestamp64Milli({since:Int64})
GROUP BY model, instanceType ORDER BY sum(gpu_hours) DESC LIMIT 5`;

/** Checks the ledger in the configuration's store; nothing if there is no ledger or no store. */
export async function* checkLedger(config: Config, now: number): AsyncGenerator<Finding> {
  const store = await openStore(config).catch(() => undefined);
  if (store === undefined) return;
  try {
    const isThere = await listPendingMigrations(store, MIGRATIONS_FOLDER).then(
      (pending) => pending.length === 0,
      () => false,
    );
    const begun = isThere ? await firstCharged(store) : undefined;
    if (begun === undefined) return;
    yield* (await hasCharges(store, now))
      ? [await sums(store, now), await prices(store, config, now)]
      : [
          {
            ok: true,
            warns: true,
            what: `charges of ${LATELY}`,
            answer: "there are none, so nothing was checked",
          } as const,
        ];
    yield* teamsAlike(config, await chargedTeams(store, now), `teams of ${LATELY}`);
    yield await periods(store, config, { begun, now });
  } finally {
    await store.close();
  }
}

async function hasCharges(store: StoreClient, now: number): Promise<boolean> {
  const sql = "SELECT 1 FROM charges_published WHERE from_at >= fromUnixTimestamp64Milli({since:Int64}) LIMIT 1";
  return (await store.query(sql, { since: now - DAYS * DAY_MILLIS })).length > 0;
}

async function chargedTeams(store: StoreClient, now: number): Promise<readonly string[]> {
  const sql =
    "SELECT groupUniqArray(team) AS teams FROM charges_summed WHERE from_at >= fromUnixTimestamp64Milli({since:Int64})";
  const [row] = await store.query<{ teams: readonly string[] }>(sql, { since: now - DAYS * DAY_MILLIS });
  return row!.teams;
}

async function sums(store: StoreClient, now: number): Promise<Finding> {
  const what = `charges of ${LATELY}`;
  const breach = breachSentence(await standingBreaches(store, { from: now - DAYS * DAY_MILLIS, until: now }));
  return breach === undefined
    ? { ok: true, what, answer: "equal the cost of each GPU exactly" }
    : { ok: false, what, answer: breach };
}

async function prices(store: StoreClient, config: Config, now: number): Promise<Finding> {
  const decided = await withLedger(config, store);
  const { book, policies } = ledgerOf(decided);
  const what = `prices of ${LATELY}`;
  if (book.prices.length === 0) {
    const isWanted = decided.listPrices === true && !hasBook(config);
    const why = isWanted
      ? `the list prices are in another currency than ${book.currency}, and there are no rates`
      : "the price book is empty";
    const answer = `${why}, so nothing has a cost; \`gpu-ledger prices list\` prints public list prices`;
    return { ok: false, what, answer };
  }
  const since = now - DAYS * DAY_MILLIS;
  const rows = await store.query<{ model: string; instanceType: string; hours: string }>(UNPRICED, {
    policy: policies[0].name,
    since,
  });
  const isList = book.isList === true;
  if (rows.length === 0)
    return isList
      ? { ok: true, warns: true, what, answer: LIST_PRICED }
      : { ok: true, what, answer: "every GPU-hour has a price" };
  const named = rows.map(({ model, instanceType, hours }) =>
    [`${formatAmount(amountOf(hours))} GPU-hours of`, model || "an unknown model", instanceType].join(" ").trimEnd(),
  );
  const missing = `missing for ${named.join(", ")}; \`gpu-ledger prices check\` lists the nodes`;
  return { ok: false, what, answer: isList ? `${missing}. ${LIST_PRICED}` : missing };
}

async function periods(
  store: StoreClient,
  config: Config,
  { begun, now }: { readonly begun: number; readonly now: number },
): Promise<Finding> {
  const { day } = config.closing;
  const { openSince } = await readClosed(store);
  const open = periodOf(Math.max(begun, openSince));
  const due = periodsDue(open, now, day).map(({ name }) => name);
  const what = "billing periods";
  if (due.length > 0)
    return {
      ok: false,
      what,
      answer: `${due.join(", ")} can be closed and is still open: run \`gpu-ledger close ${due[0]!}\``,
    };
  const from = new Date(closesFrom(open, day)).toISOString().slice(0, 10);
  return { ok: true, what, answer: `${open.name} is open, and can be closed from ${from} on` };
}
