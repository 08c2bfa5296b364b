import type { Device } from "../../../domain/device.ts";
import { gpuKey, instanceKey, namesNode, sharingKey } from "../../../domain/device.ts";
import type { Dialect, DeviceField } from "../../../domain/dialect/dialect.ts";

/** Text that DCGM prints where it has no value, in a value's or a label's place. */
export const SENTINEL_TEXT = /^<<<[A-Z_ ]*>>>$|^ERROR - FAILED TO CONVERT TO STRING$/;

/** What the labels of one series say: the device and holder that it speaks of, and the labels that no field takes. */
export interface RowLabels {
  readonly dialect: Dialect;
  readonly device: Device;
  readonly key: string;
  /** The node that the series is of, as far as its labels name one. */
  readonly host: string | undefined;
  /** The exporter that a Prometheus scraped the series from; undefined where no Prometheus did. */
  readonly scrapedFrom: string | undefined;
  readonly rest: ReadonlyMap<string, string>;
  /** The label that makes it an entity other than a GPU: a link, a switch, a CPU. */
  readonly foreign: string | undefined;
}

/** Labels in which people write the node of a scraped exporter, the most exact first. */
const NODE_LABELS = ["node", "kubernetes_node", "nodename", "node_name"];
/** Labels that a Prometheus adds to what it has scraped; they speak of the exporter, not of a GPU. */
const SCRAPE_LABELS = new Set(
  NODE_LABELS.concat("instance", "job", "prometheus", "prometheus_replica", "endpoint", "service"),
);
const HOLDER_FIELDS = new Set<DeviceField>(["namespace", "pod", "container", "podUid"]);

/**
 * Reads the labels of a series in a dialect. Empty labels are absent labels; sentinels too, except in the GPU's own
 * identity, where they leave the row without a key. Where a Prometheus has renamed the workload's labels to
 * `exported_…`, those are the workload's and the plain ones the exporter's own.
 */
export function readRowLabels(dialect: Dialect, labels: ReadonlyMap<string, string>): RowLabels {
  const fields: Partial<Record<DeviceField, string>> = {};
  const rest = new Map<string, string>();
  const lower = new Map([...labels].map(([label, value]) => [label.toLowerCase(), value]));
  const exported = [...lower.keys()].some((label) => label.startsWith("exported_"));
  for (const [written, value] of labels) {
    if (value === "" || SENTINEL_TEXT.test(value)) continue;
    const label = written.toLowerCase();
    const plain = label.startsWith("exported_") ? label.slice("exported_".length) : label;
    const field = dialect.fields[plain];
    if (field !== undefined) {
      if (plain === label && exported && HOLDER_FIELDS.has(field)) continue;
      fields[field] ??= value;
    } else if (!dialect.ignored.has(label) && !SCRAPE_LABELS.has(label) && !label.startsWith("__")) {
      rest.set(written, value);
    }
  }
  const device = toDevice(fields);
  const refined = dialect.refine?.(device, lower) ?? device;
  return {
    dialect,
    device: refined,
    key: keyOf(refined),
    host: hostOf(refined, lower),
    scrapedFrom: lower.get("instance"),
    rest,
    foreign: [...lower.keys()].find((label) => dialect.foreign.has(label)),
  };
}

/** What the series of one row have in common; empty where they name no GPU. */
function keyOf(device: Device): string {
  const gpu = gpuKey(device);
  return gpu === "" ? "" : JSON.stringify([gpu, instanceKey(device), sharingKey(device)]);
}

/** The labels of a page's series with the parts of one GPU under that GPU, where the page's dialect knows such parts. */
export function withFoldedGpus(
  read: ReadonlyMap<ReadonlyMap<string, string>, RowLabels>,
): ReadonlyMap<ReadonlyMap<string, string>, RowLabels> {
  const foldable = new Map<string, (readonly [ReadonlyMap<string, string>, RowLabels])[]>();
  for (const [labels, row] of read) {
    if (row.dialect.fold === undefined || row.key === "" || row.foreign !== undefined) continue;
    const place = `${row.dialect.exporter} ${row.host ?? ""}`;
    const ofPlace = foldable.get(place) ?? [];
    ofPlace.push([labels, row]);
    foldable.set(place, ofPlace);
  }
  if (foldable.size === 0) return read;
  const folded = new Map(read);
  for (const rows of foldable.values()) {
    const devices = rows[0]![1].dialect.fold!(rows.map(([, { device }]) => device));
    for (const [index, [labels, row]] of rows.entries()) {
      const device = devices[index]!;
      folded.set(labels, { ...row, device, key: keyOf(device) });
    }
  }
  return folded;
}

/** The node by the labels of whoever scraped the exporter, else the exporter's own host unless it is none of the node's names. */
function hostOf({ hostname }: Device, labels: ReadonlyMap<string, string>): string | undefined {
  for (const label of NODE_LABELS) if ((labels.get(label) ?? "") !== "") return labels.get(label);
  return hostname !== undefined && namesNode(hostname) ? hostname : undefined;
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

/** A host's rows in their order: by GPU, instance, and the device's own row before its holders'. */
export function inOrder<Row extends { readonly device: Device }>(rows: readonly Row[]): Row[] {
  return rows
    .map((row) => {
      const { device } = row;
      const names = [device.gpu ?? "", gpuKey(device), instanceKey(device), sharingKey(device)];
      return { row, keys: names.map((name) => ({ name, number: /^\d{1,15}$/.test(name) ? Number(name) : undefined })) };
    })
    .sort((a, b) => {
      for (const [index, key] of a.keys.entries()) {
        const order = compareKeys(key, b.keys[index]!);
        if (order !== 0) return order;
      }
      return 0;
    })
    .map(({ row }) => row);
}

interface Key {
  readonly name: string;
  readonly number: number | undefined;
}

/** Numbers by value, other text by code unit, so that the order depends on no locale. */
function compareKeys(a: Key, b: Key): number {
  if (a.number !== undefined && b.number !== undefined && a.number !== b.number) return a.number - b.number;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
