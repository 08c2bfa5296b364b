import type { CapacityType } from "../../inventory.ts";
import { EXPORT_LINE_KINDS, type CloudName, type ExportLine, type ExportLineKind } from "../export-line.ts";
import { billingPeriod, createCells, type Cells } from "./cells.ts";
import { NO_COLUMN, type ExportDialect, type ExportHead, type RowResult } from "./dialect.ts";
import { keepsMachine, type Keeping } from "./keeping.ts";

/** The fields of a line that a column of any file can give. */
export const MAPPED_FIELDS = [
  "cloud",
  "payer",
  "account",
  "billingFrom",
  "billingUntil",
  "from",
  "until",
  "kind",
  "machine",
  "region",
  "zone",
  "instanceType",
  "capacityType",
  "commitment",
  "reservation",
  "machineHours",
  "currency",
  "list",
  "contracted",
  "effective",
  "billed",
  "description",
  "invoice",
] as const;

export type MappedField = (typeof MAPPED_FIELDS)[number];

/** A column of the file, or one value for all lines. */
export type MappedValue = string | { readonly value: string };

/** The columns of a file that no dialect knows. `from`, `effective` and `currency` are needed. */
export type Mapping = Readonly<Partial<Record<MappedField, MappedValue>>>;

const NEEDED: readonly MappedField[] = ["from", "effective", "currency"];
const CLOUDS: readonly string[] = ["aws", "azure", "gcp", "oci", "other"] satisfies CloudName[];
const CAPACITY: readonly string[] = ["on-demand", "spot", "reserved", "owned", ""] satisfies (CapacityType | "")[];

/**
 * Returns the dialect of a file whose columns a mapping names. Without `until`, a line lasts to the end of its day. Without an instance type
 * in the mapping, every machine of the file counts: the file of a cloud that has only GPU machines.
 */
export function mapped(mapping: Mapping): ExportDialect {
  return {
    name: "mapped",
    open(head, keeping) {
      const missing = MAPPED_FIELDS.filter((field) => !isThere(head, mapping[field], NEEDED.includes(field)));
      if (missing.length > 0) return undefined;
      const columns = columnsOf(head, mapping);
      const cells = createCells(head);
      return {
        format: "CSV with a mapping",
        read(row) {
          cells.at(row);
          const value = (field: MappedField): string => {
            const given = mapping[field];
            return typeof given === "object" ? given.value : cells.text(columns[field]);
          };
          const result = resultOf({ cells, columns, value, number: row.number }, keeping, mapping);
          return cells.problem ?? result;
        },
      };
    },
  };
}

function isThere(head: ExportHead, given: MappedValue | undefined, isNeeded: boolean): boolean {
  if (given === undefined) return !isNeeded;
  return typeof given === "object" || head.has(given);
}

type MappedColumns = Readonly<Record<MappedField, number>>;

function columnsOf(head: ExportHead, mapping: Mapping): MappedColumns {
  const columnOf = (given: MappedValue | undefined): number =>
    typeof given === "string" ? head.column(given) : NO_COLUMN;
  return Object.fromEntries(MAPPED_FIELDS.map((field) => [field, columnOf(mapping[field])])) as MappedColumns;
}

interface MappedRow {
  readonly cells: Cells;
  readonly columns: MappedColumns;
  readonly value: (field: MappedField) => string;
  readonly number: number;
}

function resultOf(row: MappedRow, keeping: Keeping, mapping: Mapping): RowResult {
  const { cells, columns, value } = row;
  const kind = value("kind") || "machine";
  if (!(EXPORT_LINE_KINDS as readonly string[]).includes(kind))
    return { column: "kind", problem: `${JSON.stringify(kind)} is none of ${EXPORT_LINE_KINDS.join(", ")}` };
  const [cloud, capacityType] = [value("cloud") || "other", value("capacityType").toLowerCase()];
  if (!CLOUDS.includes(cloud))
    return { column: "cloud", problem: `${JSON.stringify(cloud)} is none of ${CLOUDS.join(", ")}` };
  if (!CAPACITY.includes(capacityType))
    return {
      column: "capacityType",
      problem: `${JSON.stringify(capacityType)} is none of on-demand, spot, reserved, owned`,
    };
  const facts = { machine: value("machine"), instanceType: value("instanceType"), account: value("account") };
  const isOfMachine = kind === "machine" || kind === "disk" || kind === "network" || kind === "licence";
  if (isOfMachine && mapping.instanceType !== undefined && !keepsMachine(keeping, facts))
    return { drop: kind === "machine" ? "another machine" : "of no GPU machine" };
  const from = cells.neededMoment(columns.from, "from");
  const effective = cells.firstAmount(columns.effective);
  const contracted = cells.firstAmount(columns.contracted, columns.effective);
  const currency = value("currency");
  if (currency === "") cells.refuse("currency", "the cell is empty, but the line needs a currency");
  const line: ExportLine = {
    row: row.number,
    cloud: cloud as CloudName,
    payer: value("payer"),
    account: facts.account,
    ...billingPeriod(cells.moment(columns.billingFrom), cells.moment(columns.billingUntil), from),
    from,
    until: cells.moment(columns.until) ?? cells.endOfDay(columns.from) ?? from,
    kind: kind as ExportLineKind,
    machine: facts.machine,
    region: value("region"),
    zone: value("zone"),
    instanceType: facts.instanceType,
    capacityType: capacityType as CapacityType | "",
    commitment: value("commitment"),
    reservation: value("reservation"),
    machineHours: cells.amount(columns.machineHours),
    currency,
    costs: {
      list: cells.firstAmount(columns.list, columns.contracted, columns.effective),
      contracted,
      effective,
      billed: cells.firstAmount(columns.billed, columns.effective),
    },
    description: value("description"),
    invoice: value("invoice"),
  };
  return { lines: [line] };
}
