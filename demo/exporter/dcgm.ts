import { countersOf, type Counter } from "./counters.ts";
import { layFamilies } from "./page.ts";
import type { Row, Series } from "./row.ts";

/** The messages of dcgm-exporter for a latched XID since 3.4.2. */
const XID_MESSAGES: Readonly<Record<number, string>> = {
  0: "No Error",
  13: "Graphics Engine Exception",
  31: "GPU memory page fault",
  79: "GPU has fallen off the bus",
  94: "Contained memory error",
};

/** Returns the page of a dcgm-exporter of any version. */
export function dcgmSeries(rows: readonly Row[]): Series[] {
  const make = rows[0]?.node.make;
  if (make === undefined) return [];
  const families = countersOf(make).map((counter) => ({
    ...counter,
    series: rows
      .filter((row) => speaksOf(row, counter))
      .map((row) => ({
        labels: labelsOf(row, counter),
        readings: row.kind === "holder" && counter.isPerProcess ? row.process : row.device,
        read: counter.read,
        format: make.isSorted ? ("short" as const) : counter.isDouble ? ("six" as const) : ("whole" as const),
      })),
  }));
  return layFamilies(families);
}

function speaksOf({ kind }: Row, { isWholeGpuOnly, isPerProcess }: Counter): boolean {
  if (kind === "shared") return isPerProcess;
  return kind !== "instance" || !isWholeGpuOnly;
}

/** Returns the labels in the exporter's order: device, host, driver, then attributes by name. Nothing needs escaping. */
function labelsOf(row: Row, counter: Counter): string {
  const { node, gpu, slot } = row;
  const { make, model } = node;
  const labels: [string, string][] = [
    ["gpu", String(gpu.index)],
    ["UUID", gpu.uuid],
  ];
  if (make.hasPciBusId) labels.push(["pci_bus_id", gpu.pciBusId]);
  labels.push(["device", `nvidia${gpu.index}`]);
  if (make.hasModelName) labels.push(["modelName", model.name]);
  const instance = row.kind === "instance" ? slot?.instance : undefined;
  if (instance !== undefined) labels.push(["GPU_I_PROFILE", instance.profile], ["GPU_I_ID", String(instance.id)]);
  if (make.hostLabel !== "none") labels.push([make.hostLabel, make.hostIsPod ? node.exporterPod : node.name]);
  if (make.hasDriverLabel) labels.push(["DCGM_FI_DRIVER_VERSION", make.driver]);
  labels.push(...attributesOf(row, counter));
  return labels.map(([name, value]) => `${name}="${value}"`).join(",");
}

function attributesOf({ node, pod, kind, slot, xid }: Row, { name }: Counter): [string, string][] {
  const { make } = node;
  const attributes: [string, string][] = [];
  if (pod !== undefined) {
    attributes.push(["container", pod.container], ["namespace", pod.namespace], ["pod", pod.name]);
    if (make.podUid !== "absent") attributes.push(["pod_uid", make.podUid === "filled" ? pod.uid : ""]);
    if (make.hasPodLabels) attributes.push(...Object.entries(pod.labels));
    if (kind === "holder") attributes.push(["vgpu", String(slot?.replica ?? 0)]);
  } else if (make.idleLabels === "empty") {
    attributes.push(["container", ""], ["namespace", ""], ["pod", ""]);
  }
  if (make.hasXidLabels && name.startsWith("DCGM_FI_DEV_XID_ERROR")) {
    attributes.push(["err_code", String(xid)], ["err_msg", XID_MESSAGES[xid] ?? "Unknown Error"]);
  }
  return attributes.sort(([a], [b]) => (a < b ? -1 : 1));
}
