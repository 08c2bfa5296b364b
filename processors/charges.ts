import type { UsageHour } from "../domain/allocation/usage-hour.ts";
import type { Charge } from "../domain/charge/charge.ts";
import type { OwnerRules } from "../domain/owner/compile.ts";
import type { Policy } from "../domain/policy/policy.ts";
import type { PriceBook } from "../domain/price/book.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { CHARGE_COLUMNS, insertCharges } from "./charges/charge-rows.ts";
import { chargeNode, type RefusedTeam, type Rules } from "./ledger/charge/charge-node.ts";
import { breachesOf, type Breach } from "./ledger/charge/invariant.ts";
import { markupCharges } from "./ledger/charge/markup.ts";
import { createNodePrices } from "./ledger/charge/node-prices.ts";
import { spreadCharges } from "./ledger/charge/spread-charges.ts";
import { readUsage } from "./meter/usage-rows.ts";
import { HOUR_MILLIS } from "./rollup/window.ts";
import { announceRun, publishRun, type Run, type RunContent } from "./runs.ts";

/** How GPU time becomes charges. */
export interface ChargeRules {
  readonly book: PriceBook;
  readonly owners: OwnerRules;
  /** Those whose bills are kept, the billing one first. */
  readonly policies: readonly Policy[];
}

/** What a run of charges found beside its rows. */
export interface ChargeFindings {
  /** Sums that are not exact: the run was not published. */
  readonly breaches: readonly Breach[];
  /** Scopes that a policy could not spread by cost, as holders in them have no price. */
  readonly refusedScopes: readonly string[];
  readonly refusedTeams: readonly RefusedTeam[];
  /** GPU-hours without a price, as a number for people: no money. */
  readonly unpricedGpuHours: number;
}

const DIGEST = `
SELECT count() AS rows, sum(cityHash64(tuple(${CHARGE_COLUMNS.join(", ")}))) AS hash
FROM charges
WHERE cluster = {cluster:String} AND run_id = toUUID({run:String})
  AND from_at >= fromUnixTimestamp64Milli({start:Int64}) AND from_at < fromUnixTimestamp64Milli({start:Int64} + ${HOUR_MILLIS})`;

/** Charges are inserted in portions of about so many. */
const CHARGES_PER_INSERT = 50_000;

/**
 * Makes the charges of one UTC hour of one cluster from what the meter has published of it, under each policy, holds them against
 * what each GPU cost, and publishes them as one run. A breach publishes nothing. Fails with a `StoreError`.
 */
export async function chargeWindow(
  store: StoreClient,
  run: Run,
  { book, owners, policies }: ChargeRules,
): Promise<ChargeFindings & { readonly content: RunContent | undefined }> {
  const { cluster, windowStart, runId } = run;
  const rules: Rules = { prices: createNodePrices(book), owners, policies };
  const breaches: Breach[] = [];
  const refusedTeams = new Map<string, RefusedTeam>();
  const refusedScopes = new Set<string>();
  let unpriced = 0n;
  await announceRun(store, run);
  const bills = policies.map((policy) =>
    createBill(policy, book, (charges) => insertCharges(store, runId, policy.name, charges)),
  );
  for await (const hours of nodesOf(
    readUsage(store, cluster, { from: windowStart, until: windowStart + HOUR_MILLIS }),
  )) {
    const charged = chargeNode(hours, rules);
    for (const refused of charged.refused) refusedTeams.set(JSON.stringify(refused), refused);
    for (const [index, bill] of bills.entries()) {
      const charges = charged.charges[index]!;
      breaches.push(...breachesOf(policies[index]!.name, hours[0]!.node, charged, charges));
      await bill.add(charges);
      if (index === 0) for (const { costs, gpuHours } of charges) unpriced += costs === undefined ? gpuHours : 0n;
    }
  }
  for (const bill of bills) {
    const { refused, isBalanced } = await bill.end();
    for (const scope of refused) refusedScopes.add(scope);
    if (!isBalanced)
      breaches.push({ policy: bill.name, node: "", slot: "", what: "effective", expected: "0", found: "not 0" });
  }
  const findings = {
    breaches,
    refusedScopes: [...refusedScopes],
    refusedTeams: [...refusedTeams.values()],
    unpricedGpuHours: Number(unpriced) / 1e9,
  };
  if (breaches.length > 0) return { ...findings, content: undefined };
  const [digest] = await store.query<{ rows: string; hash: string }>(DIGEST, {
    cluster,
    start: windowStart,
    run: runId,
  });
  const content = { scrapes: 0, rows: Number(digest?.rows ?? 0), hash: digest?.hash ?? "0" };
  await publishRun(store, "charge", run, content);
  return { ...findings, content };
}

/** One policy's charges of an hour as they come, node by node. */
interface Bill {
  readonly name: string;
  add(charges: readonly Charge[]): Promise<void>;
  /** Spreads and marks up what waited for the whole hour. */
  end(): Promise<{ readonly refused: readonly string[]; readonly isBalanced: boolean }>;
}

/**
 * Charges go on as they come, except where a policy spreads over more than a node, or marks up: those wait for the whole hour.
 * What is spread over more than an hour goes on as it is.
 */
function createBill(policy: Policy, book: PriceBook, insert: (charges: readonly Charge[]) => Promise<void>): Bill {
  const { spread, payers } = policy;
  const spreads = Object.values(payers).includes("spread") && spread.window === "hour";
  const waits = book.markup.length > 0 || (spreads && spread.over !== "node");
  const refused: string[] = [];
  let waiting: Charge[] = [];
  const before = [0n, 0n, 0n, 0n];
  const after = [0n, 0n, 0n, 0n];

  async function pass(charges: readonly Charge[]): Promise<void> {
    const done = spreads ? spreadCharges(charges, spread) : { charges, refused: [] };
    refused.push(...done.refused);
    const all = [...done.charges, ...markupCharges(done.charges, book.markup)];
    addSums(after, all);
    for (let first = 0; first < all.length; first += CHARGES_PER_INSERT)
      await insert(all.slice(first, first + CHARGES_PER_INSERT));
  }

  async function flush(): Promise<void> {
    const charges = waiting;
    waiting = [];
    await pass(charges);
  }

  return {
    name: policy.name,
    async add(charges) {
      addSums(before, charges);
      waiting.push(...charges);
      if (!waits && waiting.length >= CHARGES_PER_INSERT) await flush();
    },
    async end() {
      await flush();
      return { refused, isBalanced: before.every((sum, index) => sum === after[index]) };
    },
  };
}

function addSums(sums: bigint[], charges: readonly Charge[]): void {
  for (const { gpuHours, costs } of charges) {
    const amounts = [gpuHours, costs?.list ?? 0n, costs?.contracted ?? 0n, costs?.effective ?? 0n];
    for (const [index, amount] of amounts.entries()) sums[index]! += amount;
  }
}

/** The rows of one node after the other. */
async function* nodesOf(portions: AsyncIterable<readonly UsageHour[]>): AsyncGenerator<readonly UsageHour[]> {
  let rows: UsageHour[] = [];
  for await (const portion of portions) {
    for (const row of portion) {
      if (rows.length > 0 && rows[0]!.node !== row.node) {
        yield rows;
        rows = [];
      }
      rows.push(row);
    }
  }
  if (rows.length > 0) yield rows;
}
