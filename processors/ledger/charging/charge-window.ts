import type { Charge } from "../../../domain/charge/charge.ts";
import type { OwnerRules } from "../../../domain/owner/compile.ts";
import { periodOf } from "../../../domain/period.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { EnergyFactors } from "../../../domain/energy/factors.ts";
import type { SourceRules } from "../../../domain/invoice/rules.ts";
import type { PriceBook } from "../../../domain/price/book.ts";
import { DEFAULT_SERVING, type ServingRules } from "../../../domain/serving/rules.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { CHARGE_COLUMNS } from "../../../runtime/store/schema/charges.ts";
import { namesOf } from "../../../runtime/store/schema/table.ts";
import type { Breach } from "../charge/breach.ts";
import { pricesOf } from "./read-invoiced.ts";
import { createNodePrices } from "../charge/node-prices.ts";
import { keepBreaches } from "../runs/breaches.ts";
import { createChargeInserts, type ChargeInserts } from "./charge-inserts.ts";
import { spreadHour } from "./reservations.ts";
import { chargedNodes, type NodeCharges } from "./charged-nodes.ts";
import type { ChargedNode, RefusedTeam, Rules } from "../charge/charge-node.ts";
import { breachesOf } from "../charge/invariant.ts";
import { markupCharges } from "../charge/markup.ts";
import type { SpreadCharges } from "../charge/spread-charges.ts";
import { digestOf } from "../runs/digest.ts";
import { announceRun, publishRun, type Run } from "../runs/runs.ts";
import { insertServingLines } from "../serving/book-lines.ts";
import { readServices } from "../serving/services.ts";
import {
  createServingSplit,
  type ServedLines,
  type ServingSplit,
  type UnsplitService,
} from "../serving/serving-split.ts";

/** The rules that turn GPU time into charges. */
export interface ChargeRules {
  readonly book: PriceBook;
  readonly owners: OwnerRules;
  /** The policies whose bills are kept, the billing policy first. */
  readonly policies: readonly Policy[];
  /** If absent, charges have no carbon. */
  readonly energy?: EnergyFactors | undefined;
  readonly serving?: ServingRules | undefined;
  /** The sources of providers' exports; absent if there are none. */
  readonly invoices?: readonly SourceRules[] | undefined;
}

/** The findings of a run of charges, in addition to its rows. */
export interface ChargeFindings {
  /** Sums that are not exact, and nodes that cannot be computed. The nodes have no charges; other sums are those of the hour, which has none. */
  readonly breaches: readonly Breach[];
  /** Scopes that a policy could not spread by cost, because holders in them have no price. */
  readonly refusedScopes: readonly string[];
  readonly refusedTeams: readonly RefusedTeam[];
  readonly unsplitServices: readonly UnsplitService[];
  /** GPU-hours without a price, as a number for people. It is not used for money. */
  readonly unpricedGpuHours: number;
}

/** The result of charging an hour. */
export interface Charged extends ChargeFindings {
  /** The rows of the published run; 0 if nothing was published. */
  readonly chargeRows: number;
}

const digest = digestOf("charges", namesOf(CHARGE_COLUMNS), "from_at");

/** The charges of one UTC hour of one cluster, added node by node. */
export interface HourCharges {
  /** The rules by which nodes are charged. */
  readonly rules: Rules;
  /**
   * Adds a node's charges, before anything is spread. A node whose sums are not exact is left out. Nodes come one after the other, sorted by
   * name.
   */
  add(of: NodeCharges): Promise<void>;
  /** Publishes the charges as one run with its basis, unless most nodes have a breach, or a sum over the nodes is not exact. */
  end(basis?: string): Promise<Charged>;
}

/**
 * Computes the charges of one UTC hour of one cluster from its published usage, under each policy. Checks them against the cost of each GPU
 * and publishes them as one run, without the nodes that have a breach. After a breach of the hour itself, or of most nodes, nothing is published. Fails
 * with a `StoreError`.
 */
export async function chargeWindow(store: StoreClient, run: Run, rules: ChargeRules, basis = ""): Promise<Charged> {
  const charges = await beginCharges(store, run, rules);
  for await (const charged of chargedNodes(store, run, charges.rules)) await charges.add(charged);
  return charges.end(basis);
}

/** Begins a run of charges. The run is invisible until it ends. All methods fail with a `StoreError`. */
export async function beginCharges(
  store: StoreClient,
  run: Run,
  { book, owners, policies, energy, serving = DEFAULT_SERVING, invoices }: ChargeRules,
): Promise<HourCharges> {
  const { windowStart, runId } = run;
  const billingPeriod = periodOf(windowStart).from;
  const breaches: Breach[] = [];
  const refusedTeams = new Map<string, RefusedTeam>();
  const refusedScopes = new Set<string>();
  const unsplitServices: UnsplitService[] = [];
  let unpriced = 0n;
  const nodes = { all: 0, without: 0 };
  await announceRun(store, run);
  const services = await readServices(store, run, serving.models);
  const bills = policies.map((policy) =>
    createBill(policy, book, {
      split: createServingSplit(policy.name, services, serving.rules),
      inserts: createChargeInserts(store, { run: runId, policy: policy.name, billingPeriod }),
      spreadHour: (charges) => spreadHour(store, run, { charges, policy, owners }),
    }),
  );

  return {
    rules: { ...(await pricesOf(store, run, { prices: createNodePrices(book), invoices })), owners, policies, energy },
    async add({ node, charged }) {
      const found = "what" in charged ? [charged] : breachesOfNode(node, charged, policies);
      breaches.push(...found);
      nodes.all += 1;
      nodes.without += found.length > 0 ? 1 : 0;
      if ("what" in charged || found.length > 0) return;
      for (const refused of charged.refused) refusedTeams.set(JSON.stringify(refused), refused);
      for (const [index, bill] of bills.entries()) {
        const charges = charged.charges[index]!;
        await bill.add(charges);
        if (index === 0) for (const { costs, gpuHours } of charges) unpriced += costs === undefined ? gpuHours : 0n;
      }
    },
    async end(basis = "") {
      const ofHour: Breach[] = [];
      for (const bill of bills) {
        const { refused, isBalanced, serving: served } = await bill.end();
        for (const scope of refused) refusedScopes.add(scope);
        ofHour.push(...served.breaches);
        unsplitServices.push(...served.unsplit);
        await insertServingLines(store, { run: runId, policy: bill.name, billingPeriod }, windowStart, served.lines);
        if (!isBalanced)
          ofHour.push({ policy: bill.name, node: "", slot: "", what: "effective", expected: "0", found: "not 0" });
      }
      const findings = {
        breaches: [...breaches, ...ofHour],
        refusedScopes: [...refusedScopes],
        refusedTeams: [...refusedTeams.values()],
        unsplitServices,
        unpricedGpuHours: Number(unpriced) / 1e9,
      };
      await keepBreaches(store, run, findings.breaches);
      // If most nodes have a breach, the rules have the fault, and former charges stay.
      if (ofHour.length > 0 || nodes.without * 2 > nodes.all) return { ...findings, chargeRows: 0 };
      return { ...findings, chargeRows: await publishCharges(store, "charge", run, basis) };
    },
  };
}

/** Returns the breaches of a node under all policies. */
function breachesOfNode(node: string, charged: ChargedNode, policies: readonly Policy[]): readonly Breach[] {
  return policies.flatMap(({ name }, index) => breachesOf(name, node, charged, charged.charges[index]!));
}

/** Publishes the rows that a run of charges has in the store now. Returns their number. Fails with a `StoreError`. */
export async function publishCharges(
  store: StoreClient,
  kind: "charge" | "correction",
  run: Run,
  basis: string,
): Promise<number> {
  const content = await digest(store, run);
  await publishRun(store, kind, run, { scrapes: 0, ...content, basis });
  return content.rows;
}

/** One policy's charges of an hour, added node by node. */
interface Bill {
  readonly name: string;
  add(charges: readonly Charge[]): Promise<void>;
  /** Spreads and marks up the charges that waited for the whole hour, and splits those of services. */
  end(): Promise<{
    readonly refused: readonly string[];
    readonly isBalanced: boolean;
    readonly serving: ServedLines;
  }>;
}

/**
 * Creates a bill. Charges are inserted as they come, unless the policy spreads within the hour or marks up: those wait for their node or
 * for the whole hour. Charges that are spread over more than an hour are inserted unspread.
 */
function createBill(
  policy: Policy,
  { markup }: Pick<PriceBook, "markup">,
  ports: {
    readonly inserts: ChargeInserts;
    readonly split: ServingSplit;
    readonly spreadHour: (charges: readonly Charge[]) => Promise<SpreadCharges>;
  },
): Bill {
  const { inserts, split } = ports;
  const { spread, payers } = policy;
  const spreads = Object.values(payers).includes("spread") && spread.window === "hour";
  const waits = markup.length > 0 || (spreads && spread.over !== "node");
  const refused: string[] = [];
  const waiting: Charge[] = [];
  let isBalanced = true;

  async function finish(charges: readonly Charge[]): Promise<void> {
    const done = spreads ? await ports.spreadHour(charges) : { charges, refused: [] };
    refused.push(...done.refused);
    const all = [...done.charges, ...markupCharges(done.charges, markup)];
    isBalanced &&= isSameSum(charges, all);
    await book(all);
  }

  async function book(charges: readonly Charge[]): Promise<void> {
    split.add(charges);
    await inserts.add(charges);
  }

  return {
    name: policy.name,
    async add(charges) {
      if (waits) waiting.push(...charges);
      else if (spreads) await finish(charges);
      else await book(charges);
    },
    async end() {
      await finish(waiting);
      await inserts.end();
      return { refused, isBalanced, serving: await split.end() };
    },
  };
}

/** Returns whether a spread kept all sums. It moves amounts and must neither create nor lose any. */
function isSameSum(before: readonly Charge[], after: readonly Charge[]): boolean {
  const [sums, others] = [sumsOf(before), sumsOf(after)];
  return sums.every((sum, index) => sum === others[index]);
}

function sumsOf(charges: readonly Charge[]): readonly bigint[] {
  const sums = [0n, 0n, 0n, 0n, 0n, 0n, 0n];
  for (const { gpuHours, costs, power, millijoules, carbon } of charges) {
    const amounts = [gpuHours, costs?.list, costs?.contracted, costs?.effective, power, millijoules, carbon];
    for (const [index, amount] of amounts.entries()) if (amount !== undefined) sums[index]! += amount;
  }
  return sums;
}
