import { multiply, type Rational } from "../../exact/rational.ts";
import type { ExportLine, ExportLineKind } from "../export-line.ts";
import { billingPeriod, createCells, type Cells } from "./cells.ts";
import { namedColumns, type ExportDialect, type RowResult } from "./dialect.ts";
import { keepsMachine, keepsService, type Keeping } from "./keeping.ts";
import { isGpuSku, kindByWords } from "./resource-kind.ts";
import { oracleMachine } from "./resources.ts";

/**
 * The columns of Oracle's cost reports that count.
 * Source: https://docs.oracle.com/iaas/Content/Billing/Concepts/usagereportsoverview.htm.
 */
const NAMES = {
  payer: ["lineItem/tenantId"],
  from: ["lineItem/intervalUsageStart"],
  until: ["lineItem/intervalUsageEnd"],
  correction: ["lineItem/isCorrection"],
  service: ["product/service"],
  account: ["product/compartmentId"],
  region: ["product/region"],
  zone: ["product/availabilityDomain"],
  resource: ["product/resourceId"],
  description: ["product/Description"],
  quantity: ["usage/billedQuantity"],
  price: ["cost/unitPrice"],
  cost: ["cost/myCost"],
  currency: ["cost/currencyCode"],
  unit: ["cost/skuUnitDescription", "cost/billingUnitReadable"],
} as const satisfies Record<string, readonly string[]>;

type OciColumns = Readonly<Record<keyof typeof NAMES, number>>;

/**
 * Cost reports of Oracle. Oracle stops their delivery in favor of FOCUS reports, which `focus.ts` reads. A line of a GPU machine counts hours
 * of GPUs and names no shape, so `machineHours` and `instanceType` stay empty.
 */
export const oci: ExportDialect = {
  name: "oci",
  open(head, keeping) {
    const columns = namedColumns(head, NAMES, ["from", "until", "cost", "currency", "resource"]);
    if (columns === undefined) return undefined;
    const cells = createCells(head);
    return {
      format: "Oracle cost report",
      read(row) {
        cells.at(row);
        const result = resultOf({ cells, columns, number: row.number }, keeping);
        return cells.problem ?? result;
      },
    };
  },
};

interface OciRow {
  readonly cells: Cells;
  readonly columns: OciColumns;
  readonly number: number;
}

function resultOf(row: OciRow, keeping: Keeping): RowResult {
  const { cells, columns } = row;
  const [service, description] = [cells.text(columns.service), cells.text(columns.description)];
  const machine = oracleMachine(cells.text(columns.resource));
  const account = cells.text(columns.account);
  if (/\bsupport\b/i.test(service)) return one(row, "support", machine);
  const isKept = keepsMachine(keeping, { machine, instanceType: "", account }) || isGpuSku(description);
  if (service.toUpperCase() !== "COMPUTE") {
    if (keepsService(keeping, service)) return one(row, "machine", machine);
    return { drop: kindByWords(`${service} ${description}`) === undefined ? "another service" : "of no GPU machine" };
  }
  const kind = kindByWords(description) ?? "machine";
  if (!isKept) return { drop: kind === "machine" ? "another machine" : "of no GPU machine" };
  return kind === "machine" || machine !== "" ? one(row, kind, machine) : { drop: "of no GPU machine" };
}

function one(row: OciRow, kind: ExportLineKind, machine: string): RowResult {
  const { cells, columns } = row;
  const from = cells.neededMoment(columns.from, "lineItem/intervalUsageStart");
  const cost = cells.firstAmount(columns.cost);
  const currency = cells.text(columns.currency);
  if (currency === "") cells.refuse("cost/currencyCode", "the cell is empty, but the line needs a currency");
  const line: ExportLine = {
    row: row.number,
    cloud: "oci",
    payer: cells.text(columns.payer),
    account: cells.text(columns.account),
    ...billingPeriod(undefined, undefined, from),
    from,
    until: cells.neededMoment(columns.until, "lineItem/intervalUsageEnd"),
    kind: cells.text(columns.correction) === "true" && machine === "" ? "refund" : kind,
    machine,
    region: cells.text(columns.region),
    zone: cells.text(columns.zone),
    instanceType: "",
    capacityType: /preemptible/i.test(cells.text(columns.description)) ? "spot" : kind === "machine" ? "on-demand" : "",
    commitment: "",
    reservation: "",
    machineHours: undefined,
    currency,
    costs: { list: listCost(row) ?? cost, contracted: cost, effective: cost, billed: cost },
    description: cells.text(columns.description),
    invoice: "",
  };
  return { lines: [line] };
}

/** Returns the price times the quantity. The price of a report is the one of the contract; Oracle writes no list price. */
function listCost({ cells, columns }: OciRow): Rational | undefined {
  const [price, quantity] = [cells.amount(columns.price), cells.amount(columns.quantity)];
  return price === undefined || quantity === undefined ? undefined : multiply(price, quantity);
}
