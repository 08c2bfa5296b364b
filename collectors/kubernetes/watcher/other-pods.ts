import type { OtherPods } from "../../../domain/compute.ts";
import { MINUTE_MILLIS } from "../../../domain/time.ts";
import { readPodCompute } from "../projection/pod/compute.ts";
import type { PodObject } from "../projection/pod-object.ts";
import { millisOf } from "../projection/time.ts";
import { objects, text } from "../projection/wire.ts";

/** The pods without GPUs on nodes with GPUs. */
export interface OtherPodsByNode {
  /** Takes the newest state of a pod without GPUs. A pod that has ended, and one that belongs to every node, is left out. */
  take(uid: string, pod: PodObject): void;
  drop(uid: string): void;
  /**
   * Returns the pods of a node that are at least 10 minutes old at a time; undefined if there are none. Short pods are left out, so that
   * the fact of a node changes seldom.
   */
  of(node: string, atMillis: number): OtherPods | undefined;
}

interface OtherPod {
  readonly node: string;
  readonly name: string;
  readonly createdMillis: number;
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
}

const STAYS_MILLIS = 10 * MINUTE_MILLIS;
const MOST_NAMES = 5;
/** The most pods that are kept for a node. A kubelet runs at most some hundred pods. */
const MOST_PODS = 1_000;

/** Creates an empty set of pods. `isGpuNode` returns whether a node has GPUs; the pods of other nodes are not kept. */
export function createOtherPods(isGpuNode: (node: string) => boolean): OtherPodsByNode {
  const byNode = new Map<string, Map<string, OtherPod>>();
  const nodeOf = new Map<string, string>();

  function drop(uid: string): void {
    const node = nodeOf.get(uid);
    if (node === undefined) return;
    nodeOf.delete(uid);
    const pods = byNode.get(node);
    pods?.delete(uid);
    if (pods?.size === 0) byNode.delete(node);
  }

  return {
    drop,
    take(uid, pod) {
      const node = text(pod.spec?.nodeName);
      const phase = pod.status?.phase;
      const hasEnded = phase === "Succeeded" || phase === "Failed";
      if (node === undefined || hasEnded || !isGpuNode(node) || isOfEveryNode(pod)) return drop(uid);
      const pods = byNode.get(node) ?? new Map<string, OtherPod>();
      if (pods.size >= MOST_PODS && !pods.has(uid)) return;
      if (nodeOf.get(uid) !== node) drop(uid);
      byNode.set(node, pods.set(uid, otherPod(node, pod)));
      nodeOf.set(uid, node);
    },
    of(node, atMillis) {
      const pods = [...(byNode.get(node)?.values() ?? [])]
        .filter(({ createdMillis }) => atMillis - createdMillis >= STAYS_MILLIS)
        .toSorted((a, b) => b.cpuMillicores - a.cpuMillicores || (a.name < b.name ? -1 : 1));
      if (pods.length === 0) return undefined;
      return {
        pods: pods.length,
        names: pods.slice(0, MOST_NAMES).map(({ name }) => name),
        requested: {
          cpuMillicores: pods.reduce((sum, { cpuMillicores }) => sum + cpuMillicores, 0),
          memoryBytes: pods.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
        },
      };
    },
  };
}

function otherPod(node: string, { metadata, spec }: PodObject): OtherPod {
  const { cpuRequestMillicores = 0, memoryRequestBytes = 0 } = readPodCompute(spec);
  return {
    node,
    name: `${text(metadata?.namespace) ?? ""}/${text(metadata?.name) ?? ""}`,
    createdMillis: millisOf(metadata?.creationTimestamp) ?? 0,
    cpuMillicores: cpuRequestMillicores,
    memoryBytes: memoryRequestBytes,
  };
}

/** Returns whether a pod belongs to a DaemonSet, or is a static pod of the kubelet, whose owner is its Node. */
function isOfEveryNode({ metadata }: PodObject): boolean {
  return objects(metadata?.ownerReferences).some(({ kind }) => kind === "DaemonSet" || kind === "Node");
}
