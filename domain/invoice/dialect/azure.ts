import { multiply, ZERO, type Rational } from "../../exact/rational.ts";
import type { CapacityType } from "../../inventory.ts";
import { nextDay } from "../moment.ts";
import type { ExportCosts, ExportLine, ExportLineKind } from "../export-line.ts";
import { azureColumns, type AzureColumns } from "./azure-columns.ts";
import { billingPeriod, createCells, type Cells } from "./cells.ts";
import { type ExportDialect, type ExportRow, type RowResult } from "./dialect.ts";
import { jsonObject, textOf } from "./json-text.ts";
import { keepsMachine, keepsService, type Keeping } from "./keeping.ts";
import { isSupportPlan, kindByWords } from "./resource-kind.ts";
import { azureMachine } from "./resources.ts";

/**
 * Cost details of Azure, actual or amortized, of enterprise and customer agreements. The rules fit both: a line that a reservation or a
 * savings plan covers has its part of the purchase as its cost in the amortized export, and 0 in the actual one. Purchases are only in the
 * actual export, unused parts only in the amortized one. Prices of covered machines follow from the amortized export alone.
 * Source: https://learn.microsoft.com/azure/cost-management-billing/costs/understand-work-scopes and reservations/understand-reserved-instance-usage-ea.
 */
export const azure: ExportDialect = {
  name: "azure",
  open(head, keeping) {
    const columns = azureColumns(head);
    if (columns === undefined) return undefined;
    const isFocused = head.has("BilledCost") && head.has("EffectiveCost");
    if (isFocused) return undefined;
    const cells = createCells(head);
    return {
      format:
        head.has("SubscriptionGuid") || head.has("EnrollmentNumber")
          ? "Azure cost details, older columns"
          : "Azure cost details",
      read(exported) {
        const row = azureRow(cells, columns, exported);
        const result = resultOf(row, keeping);
        return row.cells.problem ?? result;
      },
    };
  },
};

interface AzureRow {
  readonly number: number;
  readonly cells: Cells;
  readonly columns: AzureColumns;
  readonly account: string;
  readonly machine: string;
  readonly instanceType: string;
  /** In lower case, because agreements differ: `usage`, `unusedreservation`. */
  readonly chargeType: string;
  readonly pricingModel: string;
  readonly commitment: string;
}

/** Returns the facts of a row. The size of a machine is in `AdditionalInfo.ServiceType`; `VMName` names the machine in a scale set. */
function azureRow(cells: Cells, columns: AzureColumns, row: ExportRow): AzureRow {
  cells.at(row);
  const written = cells.text(columns.details);
  // Old exports have the object without its braces.
  const details = written === "" ? {} : jsonObject(written.startsWith("{") ? written : `{${written}}`);
  const name = textOf(details, "VMName", "InstanceName") || cells.text(columns.instanceName);
  return {
    number: row.number,
    cells,
    columns,
    account: cells.text(columns.account).toLowerCase(),
    machine: azureMachine(cells.text(columns.resource), name),
    instanceType: textOf(details, "ServiceType", "VMSize"),
    chargeType: cells.text(columns.chargeType).toLowerCase(),
    pricingModel: cells.text(columns.pricingModel).toLowerCase(),
    commitment: (cells.text(columns.benefit) || cells.text(columns.reservation)).toLowerCase(),
  };
}

function resultOf(row: AzureRow, keeping: Keeping): RowResult {
  const { cells, columns, chargeType } = row;
  const category = cells.text(columns.category);
  switch (chargeType) {
    case "usage":
      return isSupportPlan(category) ? one(row, "support") : usage(row, keeping, category);
    case "unusedreservation":
    case "unusedsavingsplan":
      return isForOthers(row, keeping) ? { drop: "commitment of other machines" } : one(row, "unused-commitment");
    case "purchase":
      if (isSupportPlan(category)) return one(row, "support");
      if (!isCommitment(row)) return one(row, "fee");
      return isForOthers(row, keeping) ? { drop: "commitment of other machines" } : one(row, "purchase");
    case "refund":
      return one(row, "refund");
    case "tax":
      return one(row, "tax");
    case "credit":
      return one(row, "credit");
    case "roundingadjustment":
    case "adjustment":
    case "fee":
      return one(row, "fee");
    default:
      return {
        column: "ChargeType",
        problem: `${JSON.stringify(cells.text(columns.chargeType))} is no charge type that gpu-ledger knows`,
      };
  }
}

function usage(row: AzureRow, keeping: Keeping, category: string): RowResult {
  const { cells, columns } = row;
  const isKept = keepsMachine(keeping, row);
  if (category === "Virtual Machines") return isKept ? one(row, "machine") : { drop: "another machine" };
  const kind = kindByWords(category);
  if (kind !== undefined && isKept && row.machine !== "") return one(row, kind);
  if (keepsService(keeping, category, cells.text(columns.consumedService))) return one(row, "machine");
  return { drop: kind === undefined ? "another service" : "of no GPU machine" };
}

/** True if a commitment is for machines without GPUs. A savings plan names no size. The product of a reservation does. */
function isForOthers(row: AzureRow, keeping: Keeping): boolean {
  const { cells, columns, pricingModel, chargeType, instanceType } = row;
  if (pricingModel === "savingsplan" || chargeType === "unusedsavingsplan") return false;
  if (instanceType !== "") return !keepsMachine(keeping, { ...row, machine: "" });
  const words = [columns.product, columns.subcategory, columns.meter].map(cells.text).join(" ");
  const sizes = words.match(/\b(?:Standard_)?[A-Z]+\d\w*(?:[ _](?!v\d)\w+)*[ _]v\d+\b/g) ?? [];
  return !sizes.some((size) =>
    keepsMachine(keeping, { machine: "", account: "", instanceType: size.replaceAll(" ", "_") }),
  );
}

function isCommitment({ pricingModel, commitment }: AzureRow): boolean {
  return commitment !== "" || pricingModel === "reservation" || pricingModel === "savingsplan";
}

const CAPACITY_TYPES: Readonly<Record<string, CapacityType>> = {
  spot: "spot",
  reservation: "reserved",
  savingsplan: "reserved",
  ondemand: "on-demand",
};

/**
 * Returns the hours of machines. The quantity is in single hours; `100 Hours` is the block of the price.
 * Source: https://learn.microsoft.com/cloud-computing/finops/toolkit/help/data-dictionary (x_PricingBlockSize).
 */
function hoursOf({ cells, columns }: AzureRow): Rational | undefined {
  return /^(?:\d+ )?hours?$/i.test(cells.text(columns.unit)) ? cells.amount(columns.quantity) : undefined;
}

/**
 * Returns the costs of a line. The export has one cost. It is effective, other than that of a purchase, which the covered lines have. It is
 * billed, other than that of covered and unused lines, for which the purchase was billed. Prices in another
 * currency do not count, nor do prices of blocks (`100 Hours`), because exports differ in whether they are of a block or of a unit.
 */
function costsOf(row: AzureRow, kind: ExportLineKind): ExportCosts {
  const { cells, columns } = row;
  const cost = cells.firstAmount(columns.cost);
  if (kind === "purchase") return { list: ZERO, contracted: ZERO, effective: ZERO, billed: cost };
  if (kind === "unused-commitment") return { list: ZERO, contracted: ZERO, effective: cost, billed: ZERO };
  const isCovered = kind === "machine" && isCommitment(row);
  const pricing = cells.text(columns.pricingCurrency);
  const isOneCurrency = pricing === "" || pricing === cells.text(columns.currency);
  const isSingle = !/^(?!1 )\d/.test(cells.text(columns.unit));
  const byPrice = (column: number): Rational | undefined => {
    const price = isOneCurrency && isSingle ? cells.amount(column) : undefined;
    const quantity = price === undefined || price.num === 0n ? undefined : cells.amount(columns.quantity);
    return quantity === undefined ? undefined : multiply(price!, quantity);
  };
  if (kind !== "machine") return { list: cost, contracted: cost, effective: cost, billed: cost };
  const list = cells.amount(columns.listCost) ?? byPrice(columns.listPrice);
  const contracted = isCovered ? (byPrice(columns.unitPrice) ?? list ?? cost) : cost;
  return { list: list ?? contracted, contracted, effective: cost, billed: isCovered ? ZERO : cost };
}

function one(row: AzureRow, kind: ExportLineKind): RowResult {
  const { cells, columns } = row;
  const from = cells.neededMoment(columns.date, "Date");
  const currency = cells.text(columns.currency);
  if (currency === "") cells.refuse("BillingCurrency", "the cell is empty, but the line needs a currency");
  const line: ExportLine = {
    row: row.number,
    cloud: "azure",
    payer: cells.text(columns.payer),
    account: row.account,
    // The export names the last day of the period.
    ...billingPeriod(cells.moment(columns.billingFrom), cells.endOfDay(columns.billingUntil), from),
    from,
    until: nextDay(from),
    kind,
    machine: row.machine,
    region: cells.text(columns.location),
    zone: cells.text(columns.zone),
    instanceType: row.instanceType,
    capacityType: kind === "machine" ? (CAPACITY_TYPES[row.pricingModel] ?? "") : "",
    commitment: row.commitment,
    reservation: "",
    machineHours: kind === "machine" || kind === "unused-commitment" ? hoursOf(row) : undefined,
    currency,
    costs: costsOf(row, kind),
    description: [columns.product, columns.meter].map(cells.text).find((text) => text !== "") ?? "",
    invoice: cells.text(columns.invoice),
  };
  return { lines: [line] };
}
