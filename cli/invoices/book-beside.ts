import type { BillingPeriod } from "../../domain/period.ts";
import { formatAmount, lastUnits, type Money } from "../../domain/exact/units.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import type { ChargeRules } from "../../processors/ledger/charging/charge-window.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { groupLines, type BillGroup } from "../../scenarios/bill.ts";
import { computeBills } from "../on-demand-bill.ts";
import { renderTable } from "../table.ts";

/** The cost of the machines of a pool with GPUs of a model: as charged, with the costs of exports, and by the price book alone. */
export interface PoolCost {
  readonly pool: string;
  readonly gpuModel: string;
  readonly charged: string;
  readonly byBook: string;
  /** By the book less as charged. */
  readonly difference: string;
}

const BY = ["pool", "gpuModel"] as const;

/** Computes the cost of nodes by pool and model, with exports and by the price book alone. Fails with a `StoreError`. */
export async function bookBeside(
  store: StoreClient,
  { invoices, ...rules }: Omit<ChargeRules, "policies">,
  policy: Policy,
  { from, until }: Pick<BillingPeriod, "from" | "until">,
): Promise<readonly PoolCost[]> {
  const bills = [
    { rules: { ...rules, invoices }, policy },
    { rules, policy },
  ];
  const [charged, byBook] = await computeBills(store, bills, { span: { from, until }, by: BY, onProgress: () => {} });
  const costs = (groups: readonly BillGroup[]): ReadonlyMap<string, Money> =>
    new Map(groups.map(({ dimensions, cost }) => [keyOf(dimensions), cost ?? lastUnits(0n)]));
  const [ours, others] = [costs(groupLines(charged!.lines, BY)), costs(groupLines(byBook!.lines, BY))];
  return [...new Set([...ours.keys(), ...others.keys()])].toSorted().flatMap((key): PoolCost | readonly never[] => {
    const [pool, gpuModel] = JSON.parse(key) as [string, string];
    // Costs without a GPU, such as tax, have no price of the book beside them.
    if (gpuModel === "") return [];
    const [own, book] = [ours.get(key) ?? lastUnits<"currency">(0n), others.get(key) ?? lastUnits<"currency">(0n)];
    const difference = lastUnits<"currency">(book - own);
    return {
      pool,
      gpuModel,
      charged: formatAmount(own),
      byBook: formatAmount(book),
      difference: formatAmount(difference),
    };
  });
}

function keyOf(dimensions: BillGroup["dimensions"]): string {
  return JSON.stringify(BY.map((name) => dimensions[name] ?? ""));
}

/** Returns the costs of pools as a table. */
export function bookText(pools: readonly PoolCost[], currency: string): string {
  return renderTable(
    ["pool", "GPU model", `as charged, ${currency}`, "by the price book", "difference"],
    pools.map(({ pool, gpuModel, charged, byBook, difference }) => [pool, gpuModel, charged, byBook, difference]),
  );
}
