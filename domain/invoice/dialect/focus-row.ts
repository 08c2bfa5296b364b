import type { CloudName } from "../export-line.ts";
import type { Cells } from "./cells.ts";
import type { ExportRow } from "./dialect.ts";
import type { FocusColumns } from "./focus-columns.ts";
import { jsonObject, textOf } from "./json-text.ts";
import { isGooglePart, isGpuSku } from "./resource-kind.ts";
import {
  awsCapacityReservation,
  awsMachine,
  azureMachine,
  cloudOf,
  googleMachine,
  oracleMachine,
} from "./resources.ts";

/** A row of a FOCUS export with the facts that decide about it. */
export interface FocusRow {
  readonly number: number;
  readonly cells: Cells;
  readonly columns: FocusColumns;
  readonly cloud: CloudName;
  readonly account: string;
  readonly machine: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly service: string;
  /** True if the SKU is one of GPUs: lines of Google, Oracle and smaller clouds have no instance type. */
  readonly isOfGpus: boolean;
}

/** Returns the facts of a row. */
export function focusRow(cells: Cells, columns: FocusColumns, row: ExportRow): FocusRow {
  cells.at(row);
  const provider = [columns.serviceProvider, columns.provider, columns.publisher]
    .map(cells.text)
    .find((name) => name !== "");
  const cloud = cloudOf(provider ?? "");
  const details = detailsOf(cells, columns);
  const instanceType =
    cells.text(columns.instanceType) ||
    textOf(details, "InstanceType", "ServiceType", "MachineType", "compute.googleapis.com/machine_spec", "Shape") ||
    (/:([a-z][\w-]*\.[\w.-]+)$/.exec(cells.text(columns.usageType))?.[1] ?? "");
  const account = cells.text(columns.account);
  const zone = cells.text(columns.zone);
  return {
    number: row.number,
    cells,
    columns,
    cloud,
    account,
    machine: machineOf(cloud, cells, columns, { account, zone, details }),
    instanceType,
    zone,
    service: cells.text(columns.service),
    isOfGpus: isOfGpus(cloud, cells, columns),
  };
}

function isOfGpus(cloud: CloudName, cells: Cells, columns: FocusColumns): boolean {
  if (cloud === "aws" || cloud === "azure") return false;
  return cloud === "gcp" ? isGooglePart(skuWords(cells, columns)) : isGpuSku(skuWords(cells, columns));
}

/** Returns the words of the SKU of a row. */
export function skuWords(cells: Cells, columns: FocusColumns): string {
  return [columns.meterCategory, columns.meter, columns.description].map(cells.text).join(" ");
}

/** Returns the capacity reservation of a row. AWS writes an ARN. */
export function reservationOf({ cells, columns, cloud }: FocusRow): string {
  const written = cells.text(columns.capacityReservation);
  if (cloud !== "aws") return cloud === "azure" ? written.toLowerCase() : written;
  return awsCapacityReservation(written) || written || awsCapacityReservation(cells.text(columns.resource));
}

/**
 * The details of the SKU: FOCUS 1.1 and later have `SkuPriceDetails`, Microsoft's 1.0 has `x_SkuDetails`. Google's export has the instance
 * type among the labels of the system.
 */
function detailsOf(cells: Cells, columns: FocusColumns): Readonly<Record<string, unknown>> {
  const texts = [columns.skuDetails, columns.priceDetails, columns.systemLabels].map(cells.text);
  if (texts.every((each) => each === "")) return {};
  return Object.assign({}, ...texts.map(jsonObject)) as Record<string, unknown>;
}

interface Place {
  readonly account: string;
  readonly zone: string;
  readonly details: Readonly<Record<string, unknown>>;
}

function machineOf(cloud: CloudName, cells: Cells, columns: FocusColumns, { account, zone, details }: Place): string {
  const resource = cells.text(columns.resource);
  switch (cloud) {
    case "aws":
      return awsMachine(resource);
    case "azure":
      return azureMachine(resource, textOf(details, "VMName", "InstanceName") || cells.text(columns.resourceName));
    case "gcp":
      return googleMachine({ project: account, zone, name: cells.text(columns.resourceName), globalName: resource });
    case "oci":
      return oracleMachine(resource);
    case "other":
      return resource;
    default:
      return cloud satisfies never;
  }
}
