import type { Rational } from "../../exact/rational.ts";
import { multiply } from "../../exact/rational.ts";
import type { CapacityType } from "../../inventory.ts";
import { readAmount } from "../amount.ts";
import type { ExportLine, ExportLineKind } from "../export-line.ts";
import { billingPeriod, createCells } from "./cells.ts";
import { machineUsage, otherKind } from "./cur-usage.ts";
import type { ExportDialect, RowResult } from "./dialect.ts";
import { focusColumns } from "./focus-columns.ts";
import { focusRow, reservationOf, skuWords, type FocusRow } from "./focus-row.ts";
import { keepsFamily, keepsMachine, keepsService, type Keeping } from "./keeping.ts";
import { isGooglePart, isSupportPlan, kindByWords, type UsageKind } from "./resource-kind.ts";

/**
 * The FinOps Open Cost and Usage Specification, 1.0 to 1.4, of any provider.
 * Source: https://focus.finops.org/focus-specification/. Providers: https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-focus-1-2-aws-columns.html,
 * https://learn.microsoft.com/azure/cost-management-billing/dataset-schema/cost-usage-details-focus.
 */
export const focus: ExportDialect = {
  name: "focus",
  open(head, keeping) {
    const columns = focusColumns(head);
    if (columns === undefined) return undefined;
    const cells = createCells(head);
    return {
      format: "FOCUS",
      read(exported) {
        const row = focusRow(cells, columns, exported);
        const result = resultOf(row, keeping);
        return row.cells.problem ?? result;
      },
    };
  },
};

function resultOf(row: FocusRow, keeping: Keeping): RowResult {
  const { cells, columns } = row;
  switch (cells.text(columns.category)) {
    case "Usage":
      return usage(row, keeping);
    case "Purchase":
      return purchase(row, keeping);
    case "Tax":
      return one(row, "tax");
    case "Credit":
      return one(row, "credit");
    case "Adjustment":
      return one(row, (cells.amount(columns.billed)?.num ?? 0n) < 0n ? "refund" : "fee");
    default:
      return {
        column: "ChargeCategory",
        problem: `${JSON.stringify(cells.text(columns.category))} is no category of FOCUS`,
      };
  }
}

/** A purchase of a commitment or of a reservation, a support plan, or another fee. A refund is a purchase that is a correction. */
function purchase(row: FocusRow, keeping: Keeping): RowResult {
  const { cells, columns } = row;
  const isCorrection = cells.text(columns.chargeClass) === "Correction";
  if (isCorrection && (cells.amount(columns.billed)?.num ?? 0n) < 0n) return one(row, "refund");
  if (isSupportPlan(row.service)) return one(row, "support");
  const isCommitment = cells.text(columns.commitment) !== "" || cells.text(columns.commitmentType) !== "";
  if (!isCommitment) return one(row, reservationOf(row) === "" ? "fee" : "reservation");
  return isForOthers(row, keeping) ? { drop: "commitment of other machines" } : one(row, "purchase");
}

function usage(row: FocusRow, keeping: Keeping): RowResult {
  const { cells, columns } = row;
  if (isSupportPlan(row.service)) return one(row, "support");
  if (cells.text(columns.commitmentStatus) === "Unused") {
    return isForOthers(row, keeping) ? { drop: "commitment of other machines" } : one(row, "unused-commitment");
  }
  const isKept = keepsMachine(keeping, row) || row.isOfGpus;
  if (cells.text(columns.capacityStatus) === "Unused") {
    return isKept ? one(row, "unused-commitment") : { drop: "commitment of other machines" };
  }
  const kind = kindOf(row);
  if (kind === "machine") {
    if (!isKept && !keepsService(keeping, row.service)) return { drop: "another machine" };
    return one(row, row.machine === "" && reservationOf(row) !== "" ? "reservation" : "machine");
  }
  if (kind !== "other" && row.machine !== "" && isKept) return one(row, kind);
  if (keepsService(keeping, row.service)) return one(row, "machine");
  return { drop: kind === "other" ? "another service" : "of no GPU machine" };
}

/** True if a commitment is for machines without GPUs. A savings plan and a commitment by money name no type and are kept. */
function isForOthers(row: FocusRow, keeping: Keeping): boolean {
  const { cells, columns, instanceType } = row;
  if (instanceType !== "") return !keepsMachine(keeping, { ...row, machine: "" });
  const family = /\b([a-z]\d[a-z0-9-]*)\b instance family/i.exec(cells.text(columns.description))?.[1];
  if (family !== undefined) return !keepsFamily(keeping, family);
  if (/savings ?plan|spend|dollar/i.test(cells.text(columns.commitmentType)))
    return /sagemaker|database/i.test(row.service);
  const words = skuWords(cells, columns);
  if (row.cloud === "gcp") return !isGooglePart(words) && !/dollar|spend/i.test(words);
  return !/compute|virtual machine|ec2/i.test(`${row.service} ${cells.text(columns.serviceCategory)}`);
}

/** Returns the kind of a line of usage, by the strongest source that the provider's export has. */
function kindOf(row: FocusRow): UsageKind {
  const { cells, columns, cloud } = row;
  const usageType = cells.text(columns.usageType);
  if (cloud === "aws" && usageType !== "") {
    if (machineUsage(usageType) !== undefined) return "machine";
    return otherKind(usageType) ?? "other";
  }
  const category = cells.text(columns.meterCategory);
  if (cloud === "azure" && category !== "")
    return category === "Virtual Machines" ? "machine" : (kindByWords(category) ?? "other");
  const byWords = kindByWords(`${cells.text(columns.serviceSubcategory)} ${skuWords(cells, columns)}`);
  if (byWords !== undefined) return byWords;
  const place = `${cells.text(columns.serviceCategory)} ${row.service} ${cells.text(columns.resourceType)}`;
  if (/storage|database|network/i.test(cells.text(columns.serviceCategory))) return kindByWords(place) ?? "other";
  if (row.isOfGpus || row.instanceType !== "") return "machine";
  return row.machine !== "" && /compute|machine|instance|ec2/i.test(place) ? "machine" : "other";
}

function capacityTypeOf({ cells, columns }: FocusRow): CapacityType | "" {
  switch (cells.text(columns.pricing)) {
    case "Dynamic":
      return "spot";
    case "Committed":
      return "reserved";
    case "Standard":
    case "On-Demand":
      return "on-demand";
    default:
      return "";
  }
}

/** Returns the hours of machines: `Hours`, or `100 Hours` for a hundred. Google counts hours of cores, so its hours are not of machines. */
function hoursOf({ cells, columns, cloud }: FocusRow): Rational | undefined {
  if (cloud === "gcp") return undefined;
  const [, block, unit] = /^(?:(\d+)\s+)?(hours?|hrs?)$/i.exec(cells.text(columns.consumedUnit)) ?? [];
  const quantity = unit === undefined ? undefined : cells.amount(columns.consumed);
  const size = block === undefined ? undefined : readAmount(block);
  return quantity === undefined || size === undefined ? quantity : multiply(quantity, size);
}

const WITH_TIME: ReadonlySet<ExportLineKind> = new Set(["machine", "reservation", "unused-commitment"]);

function one(row: FocusRow, kind: ExportLineKind): RowResult {
  const { cells, columns } = row;
  const from = cells.neededMoment(columns.from, "ChargePeriodStart");
  const currency = cells.text(columns.currency);
  if (currency === "") cells.refuse("BillingCurrency", "the cell is empty, but the line needs a currency");
  const billed = cells.firstAmount(columns.billed);
  const effective = cells.firstAmount(columns.effective);
  const hasTime = WITH_TIME.has(kind);
  const line: ExportLine = {
    row: row.number,
    cloud: row.cloud,
    payer: cells.text(columns.payer),
    account: row.account,
    ...billingPeriod(cells.moment(columns.billingFrom), cells.moment(columns.billingUntil), from),
    from,
    until: cells.neededMoment(columns.until, "ChargePeriodEnd"),
    kind,
    machine: row.machine,
    region: cells.text(columns.region),
    zone: row.zone,
    instanceType: row.instanceType,
    capacityType: hasTime ? capacityTypeOf(row) : "",
    commitment: cells.text(columns.commitment),
    reservation: reservationOf(row),
    machineHours: hasTime ? hoursOf(row) : undefined,
    currency,
    costs: {
      list: cells.firstAmount(columns.list, columns.contracted, columns.effective),
      contracted: cells.firstAmount(columns.contracted, columns.effective),
      effective,
      billed,
    },
    description: cells.text(columns.description),
    invoice: cells.text(columns.invoice),
  };
  return { lines: [line] };
}
