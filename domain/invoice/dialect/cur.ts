import { ZERO, type Rational } from "../../exact/rational.ts";
import type { ExportLine } from "../export-line.ts";
import { createCells } from "./cells.ts";
import { curColumns, curFormat } from "./cur-columns.ts";
import { curLine, curRow, netOf, purchaseCosts, unusedCosts, unusedPlan, unusedReservation } from "./cur-row.ts";
import type { CurRow } from "./cur-row.ts";
import { isSupport, otherKind } from "./cur-usage.ts";
import { type ExportDialect, type RowResult } from "./dialect.ts";
import { keepsFamily, keepsMachine, keepsService, keepsType, type Keeping } from "./keeping.ts";

/**
 * Cost and Usage Reports of AWS: CUR 2.0, and the legacy report in CSV or Parquet.
 * Sources: https://docs.aws.amazon.com/cur/latest/userguide/Lineitem-columns.html (types of lines), cur-sp.html and reservation-columns.html.
 */
export const cur: ExportDialect = {
  name: "cur",
  open(head, keeping) {
    const columns = curColumns(head);
    if (columns === undefined) return undefined;
    // With net columns, the discounts of AWS are in the lines of the usage. The lines of the discounts then only explain the invoice.
    const hasNet = head.has("lineItem/NetUnblendedCost");
    const cells = createCells(head);
    return {
      format: curFormat(head),
      read(exported) {
        const row = curRow(cells, columns, exported);
        const result = resultOf(row, keeping, hasNet);
        return row.cells.problem ?? result;
      },
    };
  },
};

function resultOf(row: CurRow, keeping: Keeping, hasNet: boolean): RowResult {
  switch (row.type) {
    case "Usage":
      return usage(row, keeping);
    case "DiscountedUsage":
    case "SavingsPlanCoveredUsage":
      return covered(row, keeping);
    case "SavingsPlanNegation":
      return negation(row, keeping);
    case "SavingsPlanRecurringFee":
    case "SavingsPlanUpfrontFee":
      return planFee(row, keeping);
    case "RIFee":
      return reservationFee(row, keeping, unusedReservation(row));
    case "Fee":
      return fee(row, keeping);
    case "Tax":
      return { lines: [accountLine(row, "tax")] };
    case "Credit":
      return { lines: [accountLine(row, "credit")] };
    case "Refund":
      return { lines: [accountLine(row, "refund")] };
    default:
      if (row.type.endsWith("Discount")) return discount(row, keeping, hasNet);
      return unknownType(row);
  }
}

function unknownType({ cells, type }: CurRow): RowResult {
  cells.refuse("lineItem/LineItemType", `${JSON.stringify(type)} is no type of a line that gpu-ledger knows`);
  return { lines: [] };
}

/** The time of a machine at its own price, a capacity reservation, and what belongs to a machine. */
function usage(row: CurRow, keeping: Keeping): RowResult {
  if (isSupport(row.service)) return { lines: [accountLine(row, "support")] };
  if (row.usage !== undefined) return machineTime(row, keeping, row.usage.capacityType, usageCosts);
  const kind = otherKind(row.usageType);
  if (kind !== undefined && row.machine !== "" && keepsMachine(keeping, row))
    return { lines: [curLine(row, { kind, costs: usageCosts(row), capacityType: "" })] };
  if (keepsService(keeping, row.service))
    return { lines: [curLine(row, { kind: "machine", costs: usageCosts(row), capacityType: "" })] };
  return { drop: kind === undefined ? "another service" : "of no GPU machine" };
}

/** The usage that a reserved instance or a savings plan covers. Its effective cost is its part of the commitment. */
function covered(row: CurRow, keeping: Keeping): RowResult {
  return machineTime(row, keeping, "reserved", coveredCosts);
}

function coveredCosts(row: CurRow): ExportLine["costs"] {
  const { cells, columns } = row;
  const isPlan = row.type === "SavingsPlanCoveredUsage";
  const effective = isPlan
    ? netOf(row, columns.netPlanCost, columns.planCost)
    : netOf(row, columns.netReservationCost, columns.reservationCost);
  const billed = cells.firstAmount(columns.unblended);
  const list = cells.firstAmount(columns.onDemand, columns.unblended);
  return { list, contracted: isPlan ? billed : list, effective, billed };
}

/** The time of a machine. Most rows of an export are of other machines, so the costs are only read for the others. */
function machineTime(
  row: CurRow,
  keeping: Keeping,
  capacityType: ExportLine["capacityType"],
  costsOf: (row: CurRow) => ExportLine["costs"],
): RowResult {
  const { cells, columns } = row;
  // Plans and reservations also cover functions, containers and databases.
  const isKept = row.usage !== undefined && keepsMachine(keeping, row);
  if (!isKept && !keepsService(keeping, row.service)) return { drop: "another machine" };
  const costs = costsOf(row);
  const of = row.usage?.of ?? "machine";
  const isFree = costs.effective.num === 0n && costs.billed.num === 0n && costs.list.num === 0n;
  if (of === "capacity reservation" && isFree) return { drop: "without a cost" };
  const status = cells.text(columns.capacityStatus).toLowerCase();
  const isUnused = of === "unused capacity" || (of !== "capacity block" && status === "unused");
  const kind = isUnused ? "unused-commitment" : of === "machine" ? "machine" : "reservation";
  const commitment = cells.text(columns.planArn) || cells.text(columns.reservationArn);
  const machineHours = hoursOf(row);
  return { lines: [curLine(row, { kind, costs, capacityType, commitment, machineHours })] };
}

/** The hours of machines: `pricing/unit` is `Hrs` or `Hours`, and usage types of machine time without a unit are in hours, too. */
function hoursOf({ cells, columns, usage }: CurRow): Rational | undefined {
  const unit = cells.text(columns.unit);
  const isHours = unit === "" ? usage !== undefined : /^(hrs|hours?)$/i.test(unit);
  return isHours ? cells.amount(columns.quantity) : undefined;
}

/**
 * A negation takes the public price of covered usage off the invoice, because the fee of the savings plan pays for it. The covered usage
 * has its effective cost from the plan, so the negation has 0.
 * Source: https://docs.aws.amazon.com/cur/latest/userguide/cur-sp.html.
 */
function negation(row: CurRow, keeping: Keeping): RowResult {
  if (!keepsMachine(keeping, row)) return { drop: "another machine" };
  const costs = purchaseCosts(row.cells.firstAmount(row.columns.unblended));
  const commitment = row.cells.text(row.columns.planArn);
  return { lines: [curLine(row, { kind: "machine", costs, capacityType: "reserved", commitment })] };
}

/** The fee of a savings plan, and the part of its commitment that no usage took. A plan for EC2 names a family, a Compute plan none. */
function planFee(row: CurRow, keeping: Keeping): RowResult {
  const { cells, columns } = row;
  const [family, offering] = [cells.text(columns.planFamily), cells.text(columns.planOffering)];
  if (family !== "" && family !== "NA" && !keepsFamily(keeping, family))
    return { drop: "commitment of other machines" };
  if (/sagemaker|database/i.test(offering)) return { drop: "another service" };
  return commitmentLines(row, cells.text(columns.planArn), unusedPlan(row));
}

/** The fee of a reserved instance, and the part of it that no usage took. */
function reservationFee(row: CurRow, keeping: Keeping, unused: Rational): RowResult {
  if (!keepsType(keeping, row.instanceType)) return { drop: "commitment of other machines" };
  return commitmentLines(row, row.cells.text(row.columns.reservationArn), unused);
}

function commitmentLines(row: CurRow, commitment: string, unused: Rational): RowResult {
  const billed = row.cells.firstAmount(row.columns.unblended);
  const purchase = curLine(row, { kind: "purchase", costs: purchaseCosts(billed), capacityType: "", commitment });
  if (unused.num === 0n) return { lines: [purchase] };
  const rest = curLine(row, { kind: "unused-commitment", costs: unusedCosts(unused), capacityType: "", commitment });
  return { lines: [purchase, rest] };
}

/** A fee that is paid once: a commitment, a capacity block, support, or another one of the account. */
function fee(row: CurRow, keeping: Keeping): RowResult {
  const { cells, columns } = row;
  if (isSupport(row.service)) return { lines: [accountLine(row, "support")] };
  if (cells.text(columns.planArn) !== "") return planFee(row, keeping);
  if (cells.text(columns.reservationArn) !== "" && row.usage?.of !== "capacity block")
    return reservationFee(row, keeping, ZERO);
  if (row.usage !== undefined) return machineTime(row, keeping, row.usage.capacityType, usageCosts);
  return { lines: [accountLine(row, "fee")] };
}

/**
 * A negotiated discount. Where the report has net columns, the lines of the usage have the discount already, so its own line has an effective
 * cost of 0, whatever its net cell has.
 * Source: https://docs.aws.amazon.com/cur/latest/userguide/discount-details.html.
 */
function discount(row: CurRow, keeping: Keeping, hasNet: boolean): RowResult {
  const { cells, columns } = row;
  if (!keepsMachine(keeping, row) && !keepsService(keeping, row.service)) {
    return { drop: row.machine === "" ? "another service" : "another machine" };
  }
  const billed = cells.firstAmount(columns.unblended);
  const effective = hasNet ? ZERO : billed;
  const costs = { list: ZERO, contracted: effective, effective, billed };
  return { lines: [curLine(row, { kind: "machine", costs, capacityType: row.usage?.capacityType ?? "" })] };
}

function usageCosts(row: CurRow): ExportLine["costs"] {
  const { cells, columns } = row;
  const billed = cells.firstAmount(columns.unblended);
  const effective = netOf(row, columns.netUnblended, columns.unblended);
  return { list: cells.firstAmount(columns.onDemand, columns.unblended), contracted: effective, effective, billed };
}

/** A line of the account as a whole. A credit or a refund that names a machine keeps its name, but not its kind. */
function accountLine(row: CurRow, kind: "tax" | "credit" | "refund" | "support" | "fee"): ExportLine {
  const billed = row.cells.firstAmount(row.columns.unblended);
  return curLine(row, {
    kind,
    costs: { list: billed, contracted: billed, effective: billed, billed },
    capacityType: "",
  });
}
