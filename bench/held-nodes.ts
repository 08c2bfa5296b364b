import type { ClusterFact } from "../domain/cluster-fact.ts";
import type { Device } from "../domain/device.ts";
import { encodeClusterFact, encodeWorkload, type FactMessage } from "../domain/messages/fact-message.ts";
import { encodeStable } from "../domain/messages/scrape-message.ts";
import { METRICS } from "../domain/metric.ts";
import type { DeviceEvidence, WorkloadFact } from "../domain/workload.ts";
import { namespaceFact, NOON, workloadFact } from "../test/support/facts.ts";

/** Nodes of the fleet. A pod holds each GPU. */
export const NODES = 2_500;

export const GPUS = 8;

/** The columns of its exporters' pages. */
export const COLUMNS = METRICS.slice(0, 25).map(({ name }) => name);

/** A number without a common divisor with the number of nodes, so that the step reaches each node. */
const STRIDE = 1_009;

/** A node: the stable part of its scrapes, and the facts about its pods and their claims. */
export interface BenchNode {
  readonly name: string;
  readonly stable: Uint8Array;
  readonly facts: readonly FactMessage[];
}

/** Returns a node by its number. Holders are known by DRA on a fifth of the nodes, by annotations on a fifth, by labels on the others. */
export function nodeOf(number: number): BenchNode {
  const name = `node-${String(number).padStart(5, "0")}`;
  const kind = (["dra", "annotation", "label", "label", "label"] as const)[number % 5]!;
  const uuids = Array.from({ length: GPUS }, (_, index) => `GPU-${name}-1bf4-8f64-${String(index).padStart(12, "0")}`);
  const devices = uuids.map((uuid, index): Device => {
    const pod = podName(name, index);
    return {
      gpu: String(index),
      uuid,
      pciBusId: `00000000:${index}5:00.0`,
      model: "NVIDIA H100 80GB HBM3",
      driverVersion: "580.95.05",
      ...(kind === "dra" ? {} : { namespace: "ml", pod, container: "main" }),
    };
  });
  const origin = { cluster: "test", node: name, target: `http://${name}:9400/metrics`, collector: "bench" };
  const claims = uuids.map((_, index) =>
    encodeClusterFact({
      ...namespaceFact({ uid: `claim-${name}-${index}` }),
      kind: "ResourceClaim",
      namespace: "ml",
      name: podName(name, index),
      body: {
        devices: [{ driver: "gpu.nvidia.com", pool: name, device: `gpu-${index}` }],
        reservedFor: [uidOf(name, index, 0)],
      },
    } as ClusterFact),
  );
  const slice = encodeClusterFact({
    ...namespaceFact({ uid: `slice-${name}` }),
    kind: "ResourceSlice",
    name,
    body: {
      driver: "gpu.nvidia.com",
      pool: name,
      node: name,
      devices: uuids.map((uuid, index) => ({ name: `gpu-${index}`, uuid })),
    },
  } as ClusterFact);
  const pods = uuids.map((uuid, index) => encodeWorkload(podOf(name, index, 0, kind === "annotation" ? [uuid] : [])));
  return {
    name,
    stable: encodeStable(origin, { exporter: "dcgm-exporter", columns: COLUMNS, devices }),
    facts: kind === "dra" ? [...pods, ...claims, slice] : pods,
  };
}

function podOf(node: string, index: number, life: number, uuids: readonly string[]): WorkloadFact {
  return workloadFact({
    resourceVersion: String(100 + life * 4),
    uid: uidOf(node, index, life),
    name: podName(node, index),
    node,
    evidence: uuids.map((uuid): DeviceEvidence => ({
      by: "annotation",
      uuid,
      container: 0,
      memoryMiB: 40_000,
      coresPercent: 50,
    })),
  });
}

const podName = (node: string, index: number): string => `train-${node}-${index}`;
const uidOf = (node: string, index: number, life: number): string =>
  `2f9c1a7e-${node}-4d5e-${String(index).padStart(4, "0")}-${String(life).padStart(12, "0")}`;

/**
 * Creates a function that returns the next `count` facts. For one node after the other, spread over the fleet, the last pod finishes and
 * disappears, and the next pod is bound and runs.
 */
export function createChurn(nodes: readonly BenchNode[], perSecond: number): (count: number) => readonly FactMessage[] {
  let number = 0;
  return (count) =>
    Array.from({ length: count }, () => {
      const node = nodes[((number >> 2) * STRIDE) % NODES]!.name;
      const life = Math.floor(number / 4 / NODES);
      const step = number % 4;
      number += 1;
      const at = NOON + (number * 1000) / perSecond;
      const pod = { ...podOf(node, GPUS - 1, life + (step >> 1), []), seenAtMillis: at };
      const times = { created: at, scheduled: at };
      if (step === 0) return encodeWorkload({ ...pod, resourceVersion: "900", times: { ...times, finished: at } });
      const end = { atMillis: at, inferred: false };
      if (step === 1) return encodeWorkload({ ...pod, resourceVersion: "901", times, end });
      if (step === 2) return encodeWorkload({ ...pod, times, phase: "Pending" });
      return encodeWorkload({ ...pod, resourceVersion: "800", times });
    });
}
