import type { ResourceReader } from "./resource-name.ts";
import { sanitized } from "./resource-name.ts";
import type { Row } from "./row.ts";

/** Restores the labels and annotations of objects from the labels of `kube_*_labels` and `kube_*_annotations`. */
export interface LabelReader {
  /** Returns the labels of a row by their name in Kubernetes. Labels with an unknown name are left out. */
  labels(row: Row): Readonly<Record<string, string>>;
  annotations(row: Row): Readonly<Record<string, string>>;
  /** Returns the node selector of a row of `kube_pod_nodeselectors`. */
  nodeSelector(row: Row): Readonly<Record<string, string>>;
}

const GROUP = "runai_gpu_group_";
const CONFLICT = /_conflict\d+$/;
/** Labels of GPU feature discovery for the instances of one MIG profile, and of Intel's for the GPUs of one PCI id. */
const MIG_LABEL = /^(nvidia_com_mig_\d.*)_(count|memory|product|replicas)$/;
const INTEL_COUNT = /^gpu_intel_com_device_id_([\da-f]{4})_([\da-f]{4})_count$/;

/**
 * Creates a reader of labels. kube-state-metrics replaces each character that Prometheus does not allow with an underscore, and later versions
 * write `capacityType` as `capacity_type` (`labelName` in
 * https://github.com/kubernetes/kube-state-metrics/blob/main/internal/store/utils.go). `known` are the names that are restored. Another name
 * is kept if it has no underscore, because it is then the name itself.
 */
export function createLabelReader(known: Iterable<string>, resources: Pick<ResourceReader, "read">): LabelReader {
  const names = new Map<string, string>();
  for (const name of known) {
    if (name.endsWith("*")) continue;
    for (const written of [sanitized(name), snakeCase(sanitized(name))])
      if (!names.has(written)) names.set(written, name);
  }

  function nameOf(written: string, value: string): string | undefined {
    const plain = written.replace(CONFLICT, "");
    const name = names.get(plain);
    if (name !== undefined) return name;
    const [, resource = "", what] = MIG_LABEL.exec(plain) ?? [];
    const profile = resources.read(resource);
    if (profile !== undefined) return `${profile}.${what}`;
    const [, vendor, device] = INTEL_COUNT.exec(plain) ?? [];
    if (vendor !== undefined) return `gpu.intel.com/device-id.${vendor}-${device}.count`;
    if (plain.startsWith(GROUP)) return `runai-gpu-group/${value}`;
    return plain.includes("_") ? undefined : plain;
  }

  function restored({ labels }: Row, prefix: string): Readonly<Record<string, string>> {
    const map: Record<string, string> = {};
    for (const [label, value] of labels) {
      const name = label.startsWith(prefix) ? nameOf(label.slice(prefix.length), value) : undefined;
      if (name !== undefined) map[name] = value;
    }
    return map;
  }

  return {
    labels: (row) => restored(row, "label_"),
    annotations: (row) => restored(row, "annotation_"),
    nodeSelector: (row) => restored(row, "nodeselector_"),
  };
}

function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}
