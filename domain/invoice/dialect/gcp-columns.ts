import { namedColumns, type ExportHead } from "./dialect.ts";

/**
 * The columns of Google's detailed usage cost export that count. A nested field is a column `project.id`, or `project_id` where a query has
 * made it flat. `credits`, `labels` and `system_labels` are JSON texts.
 * Source: https://cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage.
 */
const NAMES = {
  payer: ["billing_account_id"],
  service: ["service.description"],
  sku: ["sku.description"],
  from: ["usage_start_time"],
  until: ["usage_end_time"],
  project: ["project.id"],
  region: ["location.region"],
  zone: ["location.zone"],
  name: ["resource.name"],
  globalName: ["resource.global_name"],
  cost: ["cost"],
  costAtList: ["cost_at_list"],
  currency: ["currency"],
  credits: ["credits"],
  systemLabels: ["system_labels"],
  month: ["invoice.month"],
  costType: ["cost_type"],
  subscription: ["subscription.instance_id"],
} as const satisfies Record<string, readonly string[]>;

/** The number of each column of an export of Google. */
export type GcpColumns = Readonly<Record<keyof typeof NAMES, number>>;

/** Returns the columns of an export of Google; undefined if the file is another one. */
export function gcpColumns(head: ExportHead): GcpColumns | undefined {
  return namedColumns(head, NAMES, ["service", "sku", "from", "until", "cost", "currency"]);
}
