import { counted } from "../../../domain/counted.ts";
import type { StoreClient } from "../client.ts";

/** An export of a source. */
export interface NamedExport {
  readonly source: string;
  readonly name: string;
}

/** Exports of a month that have the same lines of machines: the cost of these machines counts more than once. */
export interface DoubledExports {
  /** The start of the billing month, milliseconds since the epoch. */
  readonly month: number;
  readonly exports: readonly NamedExport[];
  readonly machines: number;
}

/**
 * A line of a machine is in two exports if both have its machine, time and description. Exports of two sources have it whatever the description,
 * because formats describe one line in different words.
 */
const DOUBLED = `
SELECT toFloat64(toUnixTimestamp(toDateTime(month, 'UTC'))) * 1000 AS month, exports, toFloat64(uniqExact(machine)) AS machines
FROM (
  SELECT machine, from_at, until_at, toStartOfMonth(billing_from) AS month, arraySort(groupUniqArray((source, export))) AS exports
  FROM export_lines_valid INNER JOIN (SELECT DISTINCT version, export FROM invoice_exports_valid) AS named USING (version)
  WHERE kind = 'machine' AND billing_from >= fromUnixTimestamp64Milli({from:Int64})
    AND billing_from < fromUnixTimestamp64Milli({until:Int64})
  GROUP BY machine, from_at, until_at, month
  HAVING uniqExact(source) > 1 OR uniqExact(export, description) > uniqExact(description)
)
GROUP BY month, exports ORDER BY month, exports`;

/** Returns the exports of billing months in a span that have the same lines. Fails with a `StoreError`. */
export async function doubledExports(
  store: StoreClient,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly DoubledExports[]> {
  interface Row extends Omit<DoubledExports, "exports"> {
    readonly exports: readonly (readonly [source: string, name: string])[];
  }
  const rows = await store.query<Row>(DOUBLED, { from, until });
  return rows.map(({ exports, ...row }) => ({ ...row, exports: exports.map(([source, name]) => ({ source, name })) }));
}

/** Returns doubled exports as a sentence. */
export function doubledSentence({ exports, machines }: DoubledExports): string {
  const names = exports.map(({ source, name }) => `${name} of ${source}`).join(" and ");
  return `${names} have the same lines of ${counted(machines, "machine")}`;
}
