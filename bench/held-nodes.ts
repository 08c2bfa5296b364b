import type { ClusterFact } from "../domain/cluster-fact.ts";
import type { Device } from "../domain/device.ts";
import {
  decodeClusterFact,
  decodeWorkload,
  encodeClusterFact,
  encodeWorkload,
  type FactMessage,
} from "../domain/messages/fact-message.ts";
import { encodeScrape, encodeStable } from "../domain/messages/scrape-message.ts";
import { METRICS } from "../domain/metric.ts";
import type { WorkloadFact } from "../domain/workload.ts";
import { namespaceFact, workloadFact } from "../test/support/facts.ts";
import { nameOf, podOf } from "./page.ts";

/** GPUs of a node. A pod holds each of them. */
export const GPUS = 8;

/** The time between two scrapes of a node. */
export const INTERVAL_MILLIS = 15_000;

/** The columns of its exporter's pages. */
const COLUMNS = METRICS.slice(0, 25).map(({ name }) => name);

/** A node: the stable part of its scrapes, and the facts about its pods and their claims. */
export interface HeldNode {
  readonly name: string;
  readonly stable: Uint8Array;
  readonly facts: readonly FactMessage[];
}

/** Returns a node by its number. Holders are known by DRA on a fifth of the nodes, by annotations on a fifth, by labels on the others. */
export function nodeOf(number: number): HeldNode {
  const name = nameOf(number);
  const kind = (["dra", "annotation", "label", "label", "label"] as const)[number % 5]!;
  const gpus = Array.from({ length: GPUS }, (_, index) => {
    const four = String(index).padStart(4, "0");
    return {
      index,
      pod: podOf(name, index),
      uuid: `GPU-${name}-1bf4-8f64-00000000${four}`,
      uid: `2f9c1a7e-${name}-4d5e-${four}-000000000000`,
    };
  });
  const devices = gpus.map(({ index, uuid, pod }): Device => ({
    gpu: String(index),
    uuid,
    pciBusId: `00000000:${index}5:00.0`,
    model: "NVIDIA H100 80GB HBM3",
    driverVersion: "580.95.05",
    ...(kind === "dra" ? {} : { namespace: "ml", pod, container: "main" }),
  }));
  const evidence = { by: "annotation", container: 0, memoryMiB: 40_000, coresPercent: 50 } as const;
  const pods = gpus.map(({ pod, uid, uuid }) =>
    encodeWorkload(
      workloadFact({ uid, name: pod, node: name, evidence: kind === "annotation" ? [{ ...evidence, uuid }] : [] }),
    ),
  );
  const origin = { cluster: "test", node: name, target: `http://${name}:9400/metrics`, collector: "bench" };
  return {
    name,
    stable: encodeStable(origin, { exporter: "dcgm-exporter", columns: COLUMNS, devices }),
    facts: kind === "dra" ? [...pods, ...claimsOf(name, gpus)] : pods,
  };
}

/** Returns the claims of a node's pods, and the slice of its devices. */
function claimsOf(
  node: string,
  gpus: readonly { readonly index: number; readonly pod: string; readonly uid: string; readonly uuid: string }[],
): readonly FactMessage[] {
  const driver = "gpu.nvidia.com";
  const claims = gpus.map(({ index, pod, uid }) => ({
    ...namespaceFact({ uid: `claim-${node}-${index}`, namespace: "ml", name: pod }),
    kind: "ResourceClaim",
    body: { devices: [{ driver, pool: node, device: `gpu-${index}` }], reservedFor: [uid] },
  }));
  const slice = {
    ...namespaceFact({ uid: `slice-${node}`, name: node }),
    kind: "ResourceSlice",
    body: { driver, pool: node, node, devices: gpus.map(({ index, uuid }) => ({ name: `gpu-${index}`, uuid })) },
  };
  return [...claims, slice].map((fact) => encodeClusterFact(fact as ClusterFact));
}

/** Reads a fact. */
export function factOf({ key, value }: FactMessage): ClusterFact | WorkloadFact {
  const fact = key.includes("Resource") ? decodeClusterFact(value) : decodeWorkload(value);
  if ("invalid" in fact) throw new Error(fact.invalid);
  return fact;
}

/** Returns the message of a scrape. The values differ from round to round. */
export function messageOf(stable: Uint8Array, scrapedAtMillis: number, round: number): Uint8Array {
  const values = Float64Array.from({ length: GPUS * COLUMNS.length }, (_, index) => {
    const column = COLUMNS[index % COLUMNS.length]!;
    const part = ((index * 7919 + round * 104_729) % 1000) / 1000;
    return column.endsWith("_bytes") ? Math.round(part * 8e10) : column.endsWith("_ratio") ? part : part * 700;
  });
  const moment = { epoch: 1, sequence: round, intervalMillis: INTERVAL_MILLIS, durationMicros: 900, dropped: {} };
  return encodeScrape(stable, { ...moment, scrapedAtMillis }, values);
}
