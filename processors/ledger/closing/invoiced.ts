import type { InvoiceLine } from "../../../domain/charge/invoice.ts";
import { amountOf, difference, sum, type Money } from "../../../domain/exact/units.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import { holderWeightOf, type ScopeWeights } from "../../../domain/policy/spread.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import type { TrueUp } from "../charge/true-up.ts";
import { scopeKey } from "../charge/spread-charges.ts";
import { CloseError } from "./close-error.ts";
import { readWeightsBy } from "../closed/weights.ts";

/** Machines of a kind on an invoice: their invoiced and their computed cost in a period. */
export interface InvoicedKind extends TrueUp {
  readonly account: string;
  readonly invoiced: Money;
  readonly computed: Money;
  /** The clusters of the account; undefined for the whole fleet. */
  readonly clusters: readonly string[] | undefined;
}

/** The settings for reading an invoice. */
export interface InvoiceContext {
  readonly currency: string;
  /** The clusters of each account; undefined if one account is the whole fleet. */
  readonly accounts: Readonly<Record<string, readonly string[]>> | undefined;
}

const COMPUTED = `
SELECT cluster, instance_type AS instanceType, capacity_type AS capacityType, toString(sum(ifNull(effective_cost, 0))) AS cost,
  toFloat64(countIf(invoice_status IN ('provisional', 'invoiced'))) AS ofExports
FROM charges
WHERE policy = {policy:String} AND state != 'markup'
  AND run_id IN (SELECT run_id FROM closed_runs WHERE close_id = toUUID({close:String}) AND kind = 'charge')
GROUP BY cluster, instanceType, capacityType`;

/**
 * Compares an invoice with the cost of a closing's own hours, by account, instance type and capacity type. Kinds without an invoice line
 * keep their computed cost. Corrections of earlier periods belong to other invoices. Fails with a {@link CloseError} of the code `invoice`,
 * or with a `StoreError`.
 */
export async function compareInvoice(
  store: StoreClient,
  lines: readonly InvoiceLine[],
  context: InvoiceContext,
  of: { readonly closeId: string; readonly policy: string },
): Promise<readonly InvoicedKind[]> {
  if (lines.length === 0) return [];
  checkInvoice(lines, context);
  const computed = await store.query<ComputedKind>(COMPUTED, { close: of.closeId, policy: of.policy });
  return [...groupedBy(lines, kindOf).values()].map((ofKind): InvoicedKind => {
    const { account, instanceType, capacityType, key } = ofKind[0]!;
    const clusters = context.accounts?.[account];
    const costs = computed.filter(
      (row) =>
        row.instanceType === instanceType &&
        row.capacityType === capacityType &&
        (clusters === undefined || clusters.includes(row.cluster)),
    );
    const doubled = costs.find(({ ofExports }) => ofExports > 0);
    if (doubled !== undefined)
      throw new CloseError(
        "invoice",
        `${key}: machines of ${instanceType} (${capacityType}) of ${doubled.cluster} have the cost of a provider's export, which is their invoice; leave the line out`,
      );
    const invoiced = sum(ofKind.map(({ amount }) => amount));
    const cost = sum(costs.map((row) => amountOf<"currency">(row.cost)));
    const cluster = clusters?.length === 1 ? clusters[0]! : "";
    const ours = { invoiced, computed: cost, difference: difference(invoiced, cost) };
    return { account, cluster, clusters, instanceType, capacityType, key, ...ours };
  });
}

interface ComputedKind {
  readonly cluster: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly cost: string;
  /** The number of charges by exports. */
  readonly ofExports: number;
}

/** Reads the weights of the holders of machines of a kind over the period of a closing. Fails with a `StoreError`. */
export async function weightsOfKind(
  store: StoreClient,
  closeId: string,
  { name, spread }: Policy,
  { clusters, instanceType, capacityType }: InvoicedKind,
): Promise<ScopeWeights> {
  const where = `policy = {policy:String} AND instance_type = {instanceType:String} AND capacity_type = {capacityType:String}
    AND ({isAll:Bool} OR cluster IN {clusters:Array(String)})
    AND run_id IN (SELECT run_id FROM closed_runs WHERE close_id = toUUID({close:String}) AND kind = 'charge')`;
  const weights = await readWeightsBy(store, "tuple('', '', '0')", holderWeightOf(spread), {
    where,
    parameters: {
      policy: name,
      instanceType,
      capacityType,
      isAll: clusters === undefined,
      clusters: clusters ?? [],
      close: closeId,
    },
  });
  return weights.get(scopeKey("", "", 0)) ?? { weighed: [], isRefused: false };
}

function checkInvoice(lines: readonly InvoiceLine[], { currency, accounts }: InvoiceContext): void {
  const foreign = lines.find((line) => line.currency !== currency);
  if (foreign !== undefined)
    throw new CloseError(
      "invoice",
      `${foreign.key} is in ${foreign.currency}: an invoice must be in the price book's currency, ${currency}`,
    );
  const named = [...new Set(lines.map(({ account }) => account))];
  if (accounts === undefined && named.length > 1)
    throw new CloseError(
      "invoice",
      `the invoice has ${named.length} accounts (${named.join(", ")}): list the clusters of each account in closing.accounts`,
    );
  const unknown = accounts === undefined ? undefined : named.find((account) => accounts[account] === undefined);
  if (unknown !== undefined)
    throw new CloseError(
      "invoice",
      `the account ${unknown} is not in closing.accounts, which has ${Object.keys(accounts!).join(", ")}`,
    );
}

function kindOf({ account, instanceType, capacityType }: InvoiceLine): string {
  return JSON.stringify([account, instanceType, capacityType]);
}
