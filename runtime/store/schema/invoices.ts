import { columnsOf, type Column, type RowOf } from "./table.ts";
import { amount, bool, day, decimal, manyTexts, moment, text, uint32, uuid } from "./types.ts";

/** The columns of `export_lines`: a stored `ExportLine`, with the version, source and file that it is of. */
export const EXPORT_LINE_COLUMNS: readonly Column[] = [
  ...columnsOf({ version: uuid, source: text, file: text }),
  { name: "file_row", type: uint32, path: "row" },
  ...columnsOf({ cloud: text, payer: text, account: text }),
  { name: "billing_from", type: moment, path: "billingFrom" },
  { name: "billing_until", type: moment, path: "billingUntil" },
  { name: "from_at", type: moment, path: "from" },
  { name: "until_at", type: moment, path: "until" },
  ...columnsOf({ kind: text, machine: manyTexts, region: text, zone: text }),
  { name: "instance_type", type: text, path: "instanceType" },
  { name: "capacity_type", type: text, path: "capacityType" },
  ...columnsOf({ commitment: manyTexts, reservation: manyTexts }),
  { name: "machine_hours", type: decimal, path: "machineHours" },
  ...columnsOf({ currency: text }),
  { name: "list_cost", type: decimal, path: "costs.list" },
  { name: "contracted_cost", type: decimal, path: "costs.contracted" },
  { name: "effective_cost", type: decimal, path: "costs.effective" },
  { name: "billed_cost", type: decimal, path: "costs.billed" },
  ...columnsOf({ description: text, invoice: text }),
];

const INVOICED_HOUR = {
  hour: moment,
  cluster: text,
  node: text,
  uid: manyTexts,
  from_at: moment,
  until_at: moment,
  booked: text,
  kind: text,
  machine: manyTexts,
  source: text,
  account: text,
  billing_period: day,
  region: text,
  zone: text,
  instance_type: text,
  capacity_type: text,
  commitment: manyTexts,
  currency: text,
  list_cost: amount,
  contracted_cost: amount,
  effective_cost: amount,
  rate: text,
  status: text,
  is_divided: bool,
  lines: uint32,
};

/** A row of `invoiced_hours` without its run. */
export type InvoicedHourRow = RowOf<typeof INVOICED_HOUR>;

/** The columns of `invoiced_hours` without the run's. */
export const INVOICED_HOUR_COLUMNS = columnsOf(INVOICED_HOUR);
