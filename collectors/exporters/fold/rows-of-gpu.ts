import { gpuKey, instanceKey, sharingKey, type Device } from "../../../domain/device.ts";
import { METRIC_BY_NAME } from "../../../domain/metric.ts";
import type { Row } from "./page-row.ts";

/** Columns that exporters from 4.8.2 on report per process on a shared GPU, in addition to one series for the device. */
const PROCESS_COLUMNS = new Map([
  ["gpu_utilization_ratio", "process_utilization_ratio"],
  ["fb_used_bytes", "process_fb_used_bytes"],
]);

const GPU_FIELDS = ["gpu", "model", "pciBusId", "serial", "driverVersion", "hostname"] as const;

/** Fills missing fields in the rows of instances and of holders from the GPU's row. */
export function nameParts(rows: readonly Row[]): void {
  const isPart = ({ device }: Row): boolean => instanceKey(device) !== "" || sharingKey(device) !== "";
  const keyOf = (row: Row): string => `${row.host} ${gpuKey(row.device)}`;
  const wholes = new Map(rows.filter((row) => !isPart(row)).map((row) => [keyOf(row), row.device]));
  for (const row of rows) {
    const whole = isPart(row) ? wholes.get(keyOf(row)) : undefined;
    const lacking = GPU_FIELDS.filter((field) => row.device[field] === undefined && whole?.[field] !== undefined);
    if (lacking.length > 0)
      row.device = { ...row.device, ...Object.fromEntries(lacking.map((field) => [field, whole![field]])) };
  }
}

/** A column of a row that repeats another row's column. */
export interface Copy {
  readonly column: string;
  readonly from: Row;
  readonly to: Row;
}

/**
 * Splits process values from device values. If a device's own row has only the columns that exporters report per process, the device is
 * shared, and its holders' values of those columns are their own (dcgm-exporter 4.8.2 and later). All other values of the holders repeat
 * the device's values, so the device's own row gets them too.
 */
export function splitProcesses(rows: readonly Row[]): Copy[] {
  const copies: Copy[] = [];
  const byDevice = new Map<string, Row[]>();
  for (const row of rows) {
    const key = deviceKey(row.device);
    const ofDevice = byDevice.get(key);
    if (ofDevice === undefined) byDevice.set(key, [row]);
    else ofDevice.push(row);
  }
  for (const own of rows) {
    if (sharingKey(own.device) !== "" || ![...own.cells.keys()].every((column) => PROCESS_COLUMNS.has(column)))
      continue;
    const holders = byDevice.get(deviceKey(own.device))!.filter((row) => row !== own && !hasProcesses(row));
    for (const holder of holders) {
      for (const [column, process] of PROCESS_COLUMNS) {
        const cell = holder.cells.get(column);
        if (cell === undefined || !own.cells.has(column)) continue;
        holder.cells.delete(column);
        holder.cells.set(process, cell);
      }
    }
    const [first] = holders;
    if (first === undefined) continue;
    for (const column of first.cells.keys()) {
      if (METRIC_BY_NAME.get(column)?.scope !== "process" && !own.cells.has(column)) {
        copies.push({ column, from: first, to: own });
      }
    }
  }
  return copies;
}

/** Returns whether a row has columns whose names are of processes, as HAMi's monitor has them. */
function hasProcesses({ cells }: Row): boolean {
  return [...PROCESS_COLUMNS.values()].some((column) => cells.has(column));
}

/** Returns the key of a row's GPU or instance. */
function deviceKey(device: Device): string {
  return JSON.stringify([gpuKey(device), instanceKey(device)]);
}

/** Marks all but the first row of each GPU and of each device, so that repeated values are not summed. */
export function markRepeats(rows: readonly Row[]): void {
  const gpus = new Set<string>();
  const devices = new Set<string>();
  for (const row of rows) {
    const gpu = gpuKey(row.device);
    const device = deviceKey(row.device);
    row.device = {
      ...row.device,
      ...(gpus.has(gpu) ? { repeatsGpu: true as const } : {}),
      ...(devices.has(device) ? { repeatsDevice: true as const } : {}),
    };
    gpus.add(gpu);
    devices.add(device);
  }
}
