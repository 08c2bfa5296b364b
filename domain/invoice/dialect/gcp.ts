import { add, ZERO } from "../../exact/rational.ts";
import { readMonth } from "../moment.ts";
import type { ExportCosts, ExportLine, ExportLineKind } from "../export-line.ts";
import { billingPeriod, createCells, type Cells } from "./cells.ts";
import { type ExportDialect, type ExportRow, type RowResult } from "./dialect.ts";
import { gcpColumns, type GcpColumns } from "./gcp-columns.ts";
import { lineCredits, type LineCredits } from "./gcp-credits.ts";
import { jsonObjects, textOf } from "./json-text.ts";
import { keepsMachine, keepsService, type Keeping } from "./keeping.ts";
import { isGooglePart, isSupportPlan, kindByWords } from "./resource-kind.ts";
import { googleMachine } from "./resources.ts";

/**
 * Google's detailed usage cost export, as CSV, JSON lines or Parquet. A machine has several lines, of cores, memory and GPUs; all are the
 * machine's, and their sum is its cost. None has the hours of the machine: cores count hours of cores, memory counts bytes, and a line of
 * GPUs counts hours of GPUs, so `machineHours` stays undefined.
 * Source: https://cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage.
 */
export const gcp: ExportDialect = {
  name: "gcp",
  open(head, keeping) {
    const columns = gcpColumns(head);
    if (columns === undefined) return undefined;
    const cells = createCells(head);
    return {
      format: "Google detailed usage cost",
      read(exported) {
        const row = gcpRow(cells, columns, exported);
        const result = resultOf(row, keeping);
        return row.cells.problem ?? result;
      },
    };
  },
};

interface GcpRow {
  readonly number: number;
  readonly cells: Cells;
  readonly columns: GcpColumns;
  readonly account: string;
  readonly machine: string;
  readonly instanceType: string;
  readonly service: string;
  readonly sku: string;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly globalName: string;
}

function gcpRow(cells: Cells, columns: GcpColumns, row: ExportRow): GcpRow {
  cells.at(row);
  const [account, zone] = [cells.text(columns.project), cells.text(columns.zone)];
  const [name, globalName] = [cells.text(columns.name), cells.text(columns.globalName)];
  const labels = labelsOf(cells.text(columns.systemLabels));
  return {
    number: row.number,
    cells,
    columns,
    account,
    machine: googleMachine({ project: account, zone, name, globalName }),
    instanceType: labels["compute.googleapis.com/machine_spec"] ?? "",
    service: cells.text(columns.service),
    sku: cells.text(columns.sku),
    zone: zone || (/\/zones\/([^/]+)\//.exec(globalName)?.[1] ?? ""),
    labels,
    globalName,
  };
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  if (text === "" || text === "[]") return {};
  return Object.fromEntries((jsonObjects(text) ?? []).map((label) => [textOf(label, "key"), textOf(label, "value")]));
}

function resultOf(row: GcpRow, keeping: Keeping): RowResult {
  const { cells, columns } = row;
  const written = cells.text(columns.credits);
  const credits = lineCredits(written);
  if (credits === undefined) {
    return {
      column: "credits",
      problem: `${JSON.stringify(written.slice(0, 100))} is not a list of credits with amounts`,
    };
  }
  switch (cells.text(columns.costType) || "regular") {
    case "tax":
      return linesOf(row, "tax", credits);
    case "adjustment":
      return linesOf(row, cells.firstAmount(columns.cost).num < 0n ? "refund" : "fee", credits);
    case "rounding_error":
      return linesOf(row, "fee", credits);
    case "regular":
      return regular(row, keeping, credits);
    default:
      return {
        column: "cost_type",
        problem: `${JSON.stringify(cells.text(columns.costType))} is no cost type that gpu-ledger knows`,
      };
  }
}

function regular(row: GcpRow, keeping: Keeping, credits: LineCredits): RowResult {
  if (isSupportPlan(row.service)) return linesOf(row, "support", credits);
  if (row.service !== "Compute Engine") {
    return keepsService(keeping, row.service) ? linesOf(row, "machine", credits) : { drop: "another service" };
  }
  if (row.sku.startsWith("Commitment")) return commitment(row, keeping, credits);
  const isKept = keepsMachine(keeping, row) || isGooglePart(row.sku);
  const reservation = /\/reservations\/([^/]+)$/.exec(row.globalName)?.[1] ?? "";
  if (row.labels["compute.googleapis.com/is_unused_reservation"] === "true" || reservation !== "") {
    return isKept ? linesOf(row, "unused-commitment", credits, reservation) : { drop: "commitment of other machines" };
  }
  const kind = kindByWords(row.sku);
  if (kind === undefined) return isKept ? linesOf(row, "machine", credits) : { drop: "another machine" };
  return isKept && row.machine !== "" ? linesOf(row, kind, credits) : { drop: "of no GPU machine" };
}

/**
 * The fee of a commitment. Google does not spread it over the machines that it covers: by the older model their lines have a credit of the
 * full price, so the fee keeps its cost as effective. A commitment by money has a credit `FEE_UTILIZATION_OFFSET` for its used part; the
 * rest is the unused part.
 * Source: https://cloud.google.com/docs/cuds-spend-based and https://cloud.google.com/billing/docs/how-to/cud-analysis.
 */
function commitment(row: GcpRow, keeping: Keeping, credits: LineCredits): RowResult {
  const isByMoney = /dollar|spend|flexible|flex cud/i.test(row.sku);
  if (!isByMoney && !isGooglePart(row.sku) && !keepsMachine(keeping, { ...row, machine: "" }))
    return { drop: "commitment of other machines" };
  return linesOf(row, "purchase", credits);
}

/** Returns the line of a row, and a line of its own for the promotions that pay it. */
function linesOf(row: GcpRow, kind: ExportLineKind, credits: LineCredits, reservation = ""): RowResult {
  const { cells, columns } = row;
  const cost = cells.firstAmount(columns.cost);
  const after = add(cost, credits.discounts);
  const list = cells.firstAmount(columns.costAtList, columns.cost);
  const line = lineOf(row, kind, { list, contracted: cost, effective: after, billed: after }, credits, reservation);
  if (credits.promotions.num === 0n) return { lines: [line] };
  const amount = credits.promotions;
  const promotion: ExportLine = {
    ...line,
    kind: "credit",
    capacityType: "",
    commitment: "",
    costs: { list: ZERO, contracted: ZERO, effective: amount, billed: amount },
    description: credits.promotionNames || "Promotion",
  };
  return { lines: [line, promotion] };
}

function lineOf(
  row: GcpRow,
  kind: ExportLineKind,
  costs: ExportCosts,
  credits: LineCredits,
  reservation: string,
): ExportLine {
  const { cells, columns } = row;
  const from = cells.neededMoment(columns.from, "usage_start_time");
  const currency = cells.text(columns.currency);
  if (currency === "") cells.refuse("currency", "the cell is empty, but the line needs a currency");
  const month = readMonth(cells.text(columns.month));
  const isSpot = /\b(?:spot|preemptible)\b/i.test(row.sku);
  const isReserved = credits.isCommitted || /\bcommit/i.test(row.sku);
  return {
    row: row.number,
    cloud: "gcp",
    payer: cells.text(columns.payer),
    account: row.account,
    // Google's months begin at midnight in Los Angeles. The month's name counts here, so its bounds are those of UTC.
    ...billingPeriod(month?.from, month?.until, from),
    from,
    until: cells.neededMoment(columns.until, "usage_end_time"),
    kind,
    machine: row.machine,
    region: cells.text(columns.region),
    zone: row.zone,
    instanceType: row.instanceType,
    capacityType: kind === "machine" ? (isSpot ? "spot" : isReserved ? "reserved" : "on-demand") : "",
    commitment: cells.text(columns.subscription) || credits.commitment,
    reservation,
    machineHours: undefined,
    currency,
    costs,
    description: row.sku,
    invoice: "",
  };
}
