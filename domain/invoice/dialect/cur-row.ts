import { add, subtract, ZERO, type Rational } from "../../exact/rational.ts";
import type { ExportCosts, ExportLine, ExportLineKind } from "../export-line.ts";
import { billingPeriod, type Cells } from "./cells.ts";
import type { CurColumns } from "./cur-columns.ts";
import { machineUsage, type MachineUsage } from "./cur-usage.ts";
import type { ExportRow } from "./dialect.ts";
import { awsCapacityReservation, awsMachine } from "./resources.ts";

/** A row of an export of AWS with the facts that most kinds of lines need. */
export interface CurRow {
  readonly cells: Cells;
  readonly columns: CurColumns;
  readonly number: number;
  /** `Usage`, `DiscountedUsage`, `RIFee` … */
  readonly type: string;
  readonly service: string;
  readonly usageType: string;
  readonly usage: MachineUsage | undefined;
  readonly machine: string;
  readonly instanceType: string;
  readonly account: string;
}

/** Returns the facts of a row of an export of AWS. */
export function curRow(cells: Cells, columns: CurColumns, row: ExportRow): CurRow {
  cells.at(row);
  const usageType = cells.text(columns.usageType);
  const usage = machineUsage(usageType);
  return {
    cells,
    columns,
    number: row.number,
    type: cells.text(columns.type),
    service: cells.text(columns.service),
    usageType,
    usage,
    // Most rows are dropped by their usage type, so these cells are read when they are needed.
    get machine() {
      return awsMachine(cells.text(columns.resource));
    },
    get instanceType() {
      return usage?.instanceType || instanceTypeOf(cells, columns, usageType);
    },
    get account() {
      return cells.text(columns.account);
    },
  };
}

/** Returns the instance type that the row names outside of the usage type of machine time. CUR 2.0 can have it in the map `product`. */
function instanceTypeOf(cells: Cells, columns: CurColumns, usageType: string): string {
  const named = cells.text(columns.instanceType);
  if (named !== "") return named;
  const afterColon = /:([a-z][\w-]*\.[\w.-]+)$/.exec(usageType)?.[1];
  if (afterColon !== undefined) return afterColon;
  const product = cells.text(columns.product);
  return product === "" ? "" : (/"instance_?[tT]ype"\s*:\s*"([^"]+)"/.exec(product)?.[1] ?? "");
}

/** The costs of a line of a commitment: covered usage has the list and the contracted cost, so the purchase has none. */
export function purchaseCosts(billed: Rational): ExportCosts {
  return { list: ZERO, contracted: ZERO, effective: ZERO, billed };
}

/** The costs of the part of a commitment that no usage took. */
export function unusedCosts(effective: Rational): ExportCosts {
  return { list: ZERO, contracted: ZERO, effective, billed: ZERO };
}

/** Returns the net amount of a line where the report has it, and the amount before negotiated discounts otherwise. */
export function netOf({ cells }: CurRow, net: number, gross: number): Rational {
  return cells.firstAmount(net, gross);
}

/**
 * Returns the part of a reserved instance that no usage took, from the row of its fee (`RIFee`).
 * Source: https://docs.aws.amazon.com/cur/latest/userguide/reservation-columns.html.
 */
export function unusedReservation(row: CurRow): Rational {
  const { columns } = row;
  const upfront = netOf(row, columns.netUnusedUpfront, columns.unusedUpfront);
  return add(upfront, netOf(row, columns.netUnusedRecurring, columns.unusedRecurring));
}

/**
 * Returns the part of a savings plan's commitment that no usage took, from the row of its recurring fee.
 * Source: https://docs.aws.amazon.com/cur/latest/userguide/cur-sp.html.
 */
export function unusedPlan({ cells, columns }: CurRow): Rational {
  return subtract(cells.firstAmount(columns.planTotal), cells.firstAmount(columns.planUsed));
}

/** The parts of a line that differ between kinds. */
export interface CurPart {
  readonly kind: ExportLineKind;
  readonly costs: ExportCosts;
  readonly capacityType: ExportLine["capacityType"];
  readonly commitment?: string;
  readonly machineHours?: Rational | undefined;
}

/** Returns the line of a row. */
export function curLine(row: CurRow, part: CurPart): ExportLine {
  const { cells, columns, machine, instanceType, account } = row;
  const from = cells.neededMoment(columns.from, "lineItem/UsageStartDate");
  const until = cells.moment(columns.until) ?? from;
  const zone = cells.text(columns.zone);
  const reservation =
    awsCapacityReservation(cells.text(columns.capacityArn)) || awsCapacityReservation(cells.text(columns.resource));
  const currency = cells.text(columns.currency);
  if (currency === "") cells.refuse("lineItem/CurrencyCode", "the cell is empty, but the line needs a currency");
  return {
    row: row.number,
    cloud: "aws",
    payer: cells.text(columns.payer),
    account,
    ...billingPeriod(cells.moment(columns.billingFrom), cells.moment(columns.billingUntil), from),
    from,
    until,
    kind: part.kind,
    machine,
    region: cells.text(columns.region) || zone.replace(/[a-z]$/, ""),
    zone,
    instanceType,
    capacityType: part.capacityType,
    commitment: part.commitment ?? "",
    reservation,
    machineHours: part.machineHours,
    currency,
    costs: part.costs,
    description: cells.text(columns.description),
    invoice: cells.text(columns.invoice),
  };
}
