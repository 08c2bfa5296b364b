import type { BillingPeriod } from "../../../domain/period.ts";
import type { SourceRules } from "../../../domain/invoice/rules.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { doubledExports, doubledSentence } from "../../../runtime/store/schema/doubled-exports.ts";

/** Counts the lines of each source's exports in a billing month, and those without the number of an invoice. */
const LINES = `
SELECT source, toFloat64(count()) AS lines, toFloat64(countIf(invoice = '')) AS open FROM export_lines_valid
WHERE billing_from >= fromUnixTimestamp64Milli({from:Int64}) AND billing_from < fromUnixTimestamp64Milli({until:Int64})
GROUP BY source`;

/**
 * Returns why the exports of a month are provisional, as a sentence; undefined if every source has lines of the month, all have the number of an
 * invoice, and no two exports have the same lines. Fails with a `StoreError`.
 */
export async function provisionalSentence(
  store: StoreClient,
  period: BillingPeriod,
  sources: readonly SourceRules[],
): Promise<string | undefined> {
  const rows = await store.query<{ source: string; lines: number; open: number }>(LINES, {
    from: period.from,
    until: period.until,
  });
  const found = sources.flatMap(({ name }) => {
    const row = rows.find(({ source }) => source === name);
    if (row === undefined) return `${name} has no lines`;
    return row.open === 0 ? [] : `${row.open} of ${row.lines} lines of ${name} have no invoice`;
  });
  found.push(...(await doubledExports(store, period)).map(doubledSentence));
  if (found.length === 0) return undefined;
  return `${period.name} is provisional: ${found.join(", ")}. Wait for the provider's invoice, set finalAfter of a source without numbers of invoices, or close with --provisional`;
}
