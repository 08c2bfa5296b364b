import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";
import type { LineAt } from "./explanation.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** A line of a provider's export behind the cost of a node in an hour. Amounts are exact decimals in its currency. */
export interface ExportedLine {
  readonly source: string;
  readonly export: string;
  readonly file: string;
  /** The first row after the head is 1. */
  readonly row: number;
  readonly machine: string;
  readonly kind: string;
  /** ISO 8601. */
  readonly from: string;
  readonly until: string;
  readonly commitment: string;
  readonly machineHours: string;
  readonly currency: string;
  readonly effective: string;
  readonly billed: string;
  /** The number of the invoice; empty until the provider has made it. */
  readonly invoice: string;
}

/** The most lines that are read. */
const MOST_LINES = 200;

const isoOf = (column: string): string => `formatDateTime(${column}, '%Y-%m-%dT%H:%i:%SZ', 'UTC')`;

/** Lines of the machines that the node was, and of the reservations that they ran in. With the pool's mean, these are the machine's own lines. */
const LINES = `
WITH machines AS (
  SELECT DISTINCT source, machine FROM invoiced_hours_published
  WHERE cluster = {cluster:String} AND node = {node:String} AND hour = fromUnixTimestamp64Milli({from:Int64})
)
SELECT lines.source AS source, versions.export AS export, file, toFloat64(file_row) AS row, machine, kind,
  ${isoOf("from_at")} AS from, ${isoOf("until_at")} AS until, commitment, machine_hours AS machineHours, currency,
  effective_cost AS effective, billed_cost AS billed, invoice
FROM export_lines_valid AS lines
ANY LEFT JOIN (SELECT version, export FROM invoice_exports_valid) AS versions ON lines.version = versions.version
WHERE (source, machine) IN (SELECT source, machine FROM machines)
  AND from_at < fromUnixTimestamp64Milli({until:Int64}) AND until_at > fromUnixTimestamp64Milli({from:Int64})
ORDER BY source, file, row LIMIT ${MOST_LINES}`;

/** Returns the node of a question about a GPU at a moment. */
export function nodeOf({ gpu: { cluster, node }, at }: LineAt): Parameters<typeof readExportLines>[1] {
  return { cluster, node, at };
}

/** Reads the lines of exports behind the cost of a node at a time; none if the book prices it. Fails with a `StoreError`. */
export async function readExportLines(
  store: StoreClient,
  { cluster, node, at }: { readonly cluster: string; readonly node: string; readonly at: number },
): Promise<readonly ExportedLine[]> {
  const from = hourOf(at);
  return store.query<ExportedLine>(LINES, { cluster, node, from, until: from + HOUR_MILLIS });
}
