import type { Device } from "../../../domain/device.ts";
import { gpuKey, instanceKey, sharingKey } from "../../../domain/device.ts";
import type { Dialect, DeviceField } from "../../../domain/dialect/dialect.ts";

/** Text that DCGM prints where it has no value, in a value's or a label's place. */
export const SENTINEL_TEXT = /^<<<[A-Z_ ]*>>>$|^ERROR - FAILED TO CONVERT TO STRING$/;

/** What the labels of one series say: the device and holder that it speaks of, and the labels that no field takes. */
export interface RowLabels {
  readonly device: Device;
  readonly key: string;
  readonly rest: ReadonlyMap<string, string>;
  /** The label that makes it an entity other than a GPU: a link, a switch, a CPU. */
  readonly foreign: string | undefined;
}

/** Labels that a Prometheus adds to what it has scraped; they speak of the exporter, not of a GPU. */
const SCRAPE_LABELS = new Set(["instance", "job", "prometheus", "prometheus_replica", "endpoint", "service", "node"]);
const HOLDER_FIELDS = new Set<DeviceField>(["namespace", "pod", "container", "podUid"]);

/**
 * Reads the labels of a series in a dialect. Empty labels are absent labels; sentinels too, except in the GPU's own
 * identity, where they leave the row without a key. Where a Prometheus has renamed the workload's labels to
 * `exported_…`, those are the workload's and the plain ones the exporter's own.
 */
export function readRowLabels(dialect: Dialect, labels: ReadonlyMap<string, string>): RowLabels {
  const fields: Partial<Record<DeviceField, string>> = {};
  const rest = new Map<string, string>();
  const exported = [...labels.keys()].some((label) => label.startsWith("exported_"));
  for (const [label, value] of labels) {
    if (value === "" || SENTINEL_TEXT.test(value)) continue;
    const plain = label.startsWith("exported_") ? label.slice("exported_".length) : label;
    const field = dialect.fields[plain];
    if (field !== undefined) {
      if (plain === label && exported && HOLDER_FIELDS.has(field)) continue;
      fields[field] ??= value;
    } else if (!dialect.ignored.has(label) && !SCRAPE_LABELS.has(label)) {
      rest.set(label, value);
    }
  }
  const device = toDevice(fields);
  const refined = dialect.refine?.(device, labels) ?? device;
  const gpu = gpuKey(refined);
  const key = gpu === "" ? "" : JSON.stringify([gpu, instanceKey(refined), sharingKey(refined)]);
  return { device: refined, key, rest, foreign: [...labels.keys()].find((label) => dialect.foreign.has(label)) };
}

function toDevice(fields: Partial<Record<DeviceField, string>>): Device {
  const device: Record<string, unknown> = {};
  const claim: Record<string, string> = {};
  for (const [field, value] of Object.entries(fields)) {
    if (field.startsWith("claim.")) claim[field.slice("claim.".length)] = value;
    else device[field] = value;
  }
  if (Object.keys(claim).length > 0) device["claim"] = claim;
  return device as Device;
}

/** The order of a message's rows: by GPU, instance, and the device's own row before its holders'. */
export function compareDevices(a: Device, b: Device): number {
  return (
    compareText(a.gpu ?? "", b.gpu ?? "") ||
    compareText(gpuKey(a), gpuKey(b)) ||
    compareText(instanceKey(a), instanceKey(b)) ||
    compareText(sharingKey(a), sharingKey(b))
  );
}

/** Numbers by value, other text by code unit, so that the order depends on no locale. */
function compareText(a: string, b: string): number {
  if (/^\d+$/.test(a) && /^\d+$/.test(b) && Number(a) !== Number(b)) return Number(a) - Number(b);
  return a < b ? -1 : a > b ? 1 : 0;
}
