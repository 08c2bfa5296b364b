import type { OtherPods } from "../../../domain/compute.ts";
import type { FactOrigin } from "../../../domain/fact.ts";
import type { SliceDevice } from "../../../domain/cluster-fact.ts";
import { DELIVERED_LABEL, goodStatus, type InventoryFact, type NodeCondition } from "../../../domain/inventory.ts";
import { EXEMPT_MARK } from "../../../domain/practice/exempt.ts";
import { gpuResource, type ResourceNames } from "./gpu-resource.ts";
import type { KubeQuantities } from "./kube-object.ts";
import { readMachine } from "./node/labels.ts";
import { withoutAlternatives, withoutCutGpus, withoutFormerLayouts } from "./node/current-capacity.ts";
import { readNvidia } from "./node/nvidia.ts";
import { readOthers } from "./node/others.ts";
import { readCompute } from "./pod/compute.ts";
import type { NodeObject } from "./node-object.ts";
import { parseDevices, parseMebibytes } from "./quantity.ts";
import type { Remark, Remarks } from "./remark.ts";
import { millisOf } from "./time.ts";
import { unmeteredRemarks } from "./unmetered.ts";
import { given, named, objects, text, texts } from "./wire.ts";

/**
 * Labels that are always kept: the machine's position in the building and on the network, its delivered number of GPUs, and its exemptions
 * from practices.
 */
const NODE_LABELS: readonly string[] = [
  DELIVERED_LABEL,
  EXEMPT_MARK,
  "topology.kubernetes.io/*",
  "network.topology.nvidia.com/*",
  "topology.k8s.aws/*",
  "cloud.google.com/gce-topology-*",
];

/** The options for the projection of nodes. */
export interface NodeOptions {
  /** Names of labels to keep in addition to {@link NODE_LABELS}. A name that ends in `*` keeps all labels with that prefix. */
  readonly labels?: readonly string[];
  /** Resource names from the configuration. */
  readonly resourceNames?: ResourceNames;
  /** The devices that DRA drivers publish for the node. */
  readonly slices?: readonly SliceDevice[];
  /** When the watcher first saw the node cordoned, milliseconds since the epoch. Used if no taint has the time. */
  readonly cordonedSeenMillis?: number;
  /** The pods without GPUs that stay on the node. */
  readonly others?: OtherPods;
}

/** An inventory fact without its origin and end, which the watcher adds, and the remarks on the node. */
export interface NodeProjection {
  readonly fact: Omit<InventoryFact, keyof FactOrigin | "end">;
  readonly remarks: readonly Remark[];
}

/** Projects a node; undefined if it has no GPU in any regime. Never throws. */
export function projectNode(node: NodeObject, options: NodeOptions = {}): NodeProjection | undefined {
  const remarks: Remark[] = [];
  const { metadata, status } = node;
  const labels = texts(metadata?.labels);
  const annotations = texts(metadata?.annotations);
  const written = readAmounts("capacity", status?.capacity, options, remarks);
  const allocatable = readAmounts("allocatable", status?.allocatable, options, remarks);
  const offered = withoutFormerLayouts(withoutAlternatives(written), allocatable, options.resourceNames);
  const machine = readMachine(labels);
  const { instanceType } = machine;
  const evidence = { labels, annotations, capacity: offered, instanceType, slices: options.slices ?? [] };
  const nvidia = readNvidia(evidence, options.resourceNames, remarks);
  const capacity = nvidia === undefined ? offered : withoutCutGpus(offered, allocatable, nvidia);
  const others = readOthers(evidence, options.resourceNames, remarks);
  const gpus = nvidia === undefined ? others : [nvidia, ...others];
  const unmetered = unmeteredRemarks("Its capacity", status?.capacity, options.resourceNames);
  remarks.push(...unmetered);
  if (gpus.length === 0 && Object.keys(capacity).length === 0 && unmetered.length === 0) return undefined;
  if (gpus.length === 0 && unmetered.length === 0)
    remarks.push({ reason: "left-out", text: "Its GPU resources are all 0, and no label counts GPUs." });
  const joined = millisOf(metadata?.creationTimestamp);
  if (joined === undefined) {
    remarks.push({
      reason: "time",
      text: "metadata.creationTimestamp is not a time; the node counts as joined at the epoch.",
    });
  }
  return {
    remarks,
    fact: {
      node: text(metadata?.name) ?? labels["kubernetes.io/hostname"] ?? "",
      uid: text(metadata?.uid) ?? "",
      joined: joined ?? 0,
      gpus,
      capacity,
      allocatable,
      taints: objects(node.spec?.taints).map(({ key, value, effect }) => ({
        key: text(key) ?? "",
        value: text(value) ?? "",
        effect: text(effect) ?? "",
      })),
      conditions: readConditions(node),
      labels: named(labels, [...NODE_LABELS, ...(options.labels ?? [])]),
      ...given({
        providerId: text(node.spec?.providerID),
        compute: readCompute(status?.allocatable),
        others: options.others,
        ...machine,
        cordonedSince: cordonedSince(node, options.cordonedSeenMillis),
      }),
    },
  };
}

/** Reads amounts of GPU resources. Amounts of 0 stay: they show that a device plugin runs and withdrew its devices. */
function readAmounts(
  where: string,
  quantities: KubeQuantities | undefined,
  options: NodeOptions,
  remarks: Remarks,
): Readonly<Record<string, number>> {
  const amounts: Record<string, number> = {};
  for (const [name, quantity] of Object.entries(quantities ?? {})) {
    const resource = gpuResource(name, options.resourceNames);
    if (resource === undefined) continue;
    const memory = resource.kind === "measure" && resource.of === "memory";
    const parsed = memory ? parseMebibytes(quantity) : parseDevices(quantity);
    if ("value" in parsed) amounts[name] = parsed.value;
    else remarks.push({ reason: "quantity", text: `status.${where}: ${name}: ${parsed.refused}; it is left out.` });
  }
  return amounts;
}

/** Reads the condition Ready, and those other conditions that are not in good health. */
function readConditions(node: NodeObject): readonly NodeCondition[] {
  return objects(node.status?.conditions).flatMap(({ type, status, reason, lastTransitionTime }) => {
    const known = status === "True" || status === "False" || status === "Unknown" ? status : "Unknown";
    if (text(type) === undefined || (type !== "Ready" && known === goodStatus(type!))) return [];
    return [{ type: type!, status: known, reason: text(reason) ?? "", since: millisOf(lastTransitionTime) ?? 0 }];
  });
}

function cordonedSince(node: NodeObject, seenMillis: number | undefined): number | undefined {
  if (node.spec?.unschedulable !== true) return undefined;
  const taint = objects(node.spec.taints).find(({ key }) => key === "node.kubernetes.io/unschedulable");
  return millisOf(taint?.timeAdded) ?? seenMillis;
}
