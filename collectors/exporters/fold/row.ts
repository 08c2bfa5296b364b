import type { Device } from "../../../domain/device.ts";
import { gpuKey, instanceKey, namesNode, sharingKey } from "../../../domain/device.ts";
import type { Dialect, DeviceField } from "../../../domain/dialect/dialect.ts";

/** Text that DCGM prints for a missing value, in place of a value or a label. */
export const SENTINEL_TEXT = /^<<<[A-Z_ ]*>>>$|^ERROR - FAILED TO CONVERT TO STRING$/;

/** The parsed labels of one series: its device and holder, and the labels without a device field. */
export interface RowLabels {
  readonly dialect: Dialect;
  readonly device: Device;
  readonly key: string;
  /** The node of the series, if its labels name one. */
  readonly host: string | undefined;
  /** The exporter that a Prometheus scraped the series from; undefined if no Prometheus did. */
  readonly scrapedFrom: string | undefined;
  readonly rest: ReadonlyMap<string, string>;
  /** The label that marks an entity that is not a GPU: a link, a switch, a CPU. */
  readonly foreign: string | undefined;
}

/** Labels that users set to the node of a scraped exporter, most specific first. */
export const NODE_LABELS = ["node", "kubernetes_node", "nodename", "node_name"];
/** Labels that a Prometheus adds to scraped series. They describe the exporter, not a GPU. */
const SCRAPE_LABELS = new Set(
  NODE_LABELS.concat("instance", "job", "prometheus", "prometheus_replica", "endpoint", "service"),
);
const HOLDER_FIELDS = new Set<DeviceField>(["namespace", "pod", "container", "podUid"]);

/**
 * Reads the labels of a series in a dialect. Empty labels count as absent. Sentinels do too, except in the GPU's own identity, where they
 * leave the row without a key. If a Prometheus has renamed the workload's labels to `exported_…`, those are the workload's, and the plain
 * ones are the exporter's own: a host name that is this pod is no node. Of two host names, the one in lower case counts, which a Prometheus added.
 */
export function readRowLabels(dialect: Dialect, labels: ReadonlyMap<string, string>): RowLabels {
  const fields: Partial<Record<DeviceField, string>> = {};
  const rest = new Map<string, string>();
  const lower = new Map([...labels].map(([label, value]) => [label.toLowerCase(), value]));
  const exported = [...lower.keys()].some((label) => label.startsWith("exported_"));
  const ownPod = exported ? lower.get("pod") : undefined;
  for (const [written, value] of labels) {
    if (value === "" || SENTINEL_TEXT.test(value)) continue;
    const label = written.toLowerCase();
    const plain = label.startsWith("exported_") ? label.slice("exported_".length) : label;
    const field = dialect.fields[plain];
    if (field !== undefined) {
      if (plain === label && exported && HOLDER_FIELDS.has(field)) continue;
      if (field === "hostname" && value === ownPod) continue;
      if (field === "hostname" && written === label) fields[field] = value;
      else fields[field] ??= value;
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

/** Returns the key that the series of one row share; empty if they name no GPU. */
function keyOf(device: Device): string {
  const gpu = gpuKey(device);
  return gpu === "" ? "" : JSON.stringify([gpu, instanceKey(device), sharingKey(device)]);
}

/** Returns the labels of a page's series with the parts of one GPU under that GPU, if the page's dialect has such parts. */
export function withFoldedGpus(
  read: ReadonlyMap<ReadonlyMap<string, string>, RowLabels>,
): ReadonlyMap<ReadonlyMap<string, string>, RowLabels> {
  const foldable = new Map<string, (readonly [ReadonlyMap<string, string>, RowLabels])[]>();
  for (const [labels, row] of read) {
    if (row.dialect.fold === undefined || row.key === "" || row.foreign !== undefined) continue;
    const page = `${row.dialect.exporter} ${row.host ?? ""}`;
    const ofPage = foldable.get(page) ?? [];
    ofPage.push([labels, row]);
    foldable.set(page, ofPage);
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

/**
 * Returns the node from the labels that the scraping Prometheus added, otherwise the exporter's own host name if it can be a node's name.
 */
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

/** Sorts a host's rows: by GPU, by instance, and the device's own row before its holders' rows. */
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

/** Compares numbers by value and other texts by code unit, so that the order does not depend on a locale. */
function compareKeys(a: Key, b: Key): number {
  if (a.number !== undefined && b.number !== undefined && a.number !== b.number) return a.number - b.number;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
