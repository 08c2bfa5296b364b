import type { ClusterFact, SliceDevice } from "../../domain/cluster-fact.ts";
import type { Device } from "../../domain/device.ts";
import type { Holder } from "../../domain/holder.ts";
import type { Scrape, ScrapeShape } from "../../domain/scrape.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { createHoldings, type HoldingsIndex } from "../../processors/ingest/holdings/holdings.ts";
import { createJoinStep } from "../../processors/ingest/steps/join.ts";
import { NOON, workloadFact } from "./facts.ts";

/** A row's holder in a short form: the evidence, the pod's name with its UID after a slash, and the number of holders, of which it is the first. */
export type HolderText = `${Holder["evidence"]} ${string} of ${number}`;

/** An index of holdings and a join that uses it. Pods are on node gpu-a, bound 50 s before noon. */
export interface JoinWorld {
  readonly holdings: HoldingsIndex;
  /** Adds a running pod with this name and UID `uid-<name>`. */
  pod(name: string, given?: Partial<WorkloadFact>): void;
  claim(name: string, pods: readonly string[], devices: readonly string[], given?: Partial<ClusterFact>): void;
  slice(devices: readonly SliceDevice[], given?: Partial<ClusterFact>): void;
  /** The holders of a scrape's rows according to the join. */
  join(devices: readonly Device[] | ScrapeShape, at?: number, node?: string): readonly Holder[];
  /** The same holders in their short form. */
  holderTexts(devices: readonly Device[] | ScrapeShape, at?: number, node?: string): readonly HolderText[];
}

/** A world without facts. */
export function joinWorld(): JoinWorld {
  const holdings = createHoldings();
  const step = createJoinStep(holdings);
  let versions = 100;
  const origin = (): Pick<WorkloadFact, "cluster" | "epoch" | "resourceVersion" | "seenAtMillis"> => ({
    cluster: "test",
    epoch: 1,
    resourceVersion: String((versions += 1)),
    seenAtMillis: NOON,
  });

  function join(given: readonly Device[] | ScrapeShape, at = NOON, node = "gpu-a"): readonly Holder[] {
    const shape = "devices" in given ? given : shapeOf(given);
    const outcome = step(scrapeOf(shape, at, node));
    if (outcome.kind !== "ok") throw new Error("a join has no other outcome");
    return outcome.value.holders;
  }

  return {
    holdings,
    pod(name, given = {}) {
      holdings.workload(workloadFact({ ...origin(), uid: `uid-${name}`, name, ...given }));
    },
    claim(name, pods, devices, given = {}) {
      holdings.clusterFact({
        ...origin(),
        kind: "ResourceClaim",
        resource: "resourceclaims.resource.k8s.io",
        namespace: "ml",
        name,
        uid: `uid-claim-${name}`,
        body: {
          devices: devices.map((device) => ({ driver: "gpu.nvidia.com", pool: "gpu-a", device })),
          reservedFor: pods.map((pod) => `uid-${pod}`),
        },
        ...given,
      } as ClusterFact);
    },
    slice(devices, given = {}) {
      holdings.clusterFact({
        ...origin(),
        kind: "ResourceSlice",
        resource: "resourceslices.resource.k8s.io",
        namespace: "",
        name: "gpu-a",
        uid: "uid-slice",
        body: { driver: "gpu.nvidia.com", pool: "gpu-a", node: "gpu-a", devices },
        ...given,
      } as ClusterFact);
    },
    join,
    holderTexts: (devices, at, node) =>
      join(devices, at, node).map(
        ({ evidence, name, uid, holders }): HolderText =>
          `${evidence} ${name}${uid === "" ? "" : `/${uid}`} of ${holders}`,
      ),
  };
}

/** A shape without columns. */
export function shapeOf(devices: readonly Device[], exporter = "dcgm-exporter"): ScrapeShape {
  return { exporter, columns: [], devices };
}

/** A GPU of a page by its number, `GPU-<number>`. */
export function gpu(number: number, given: Partial<Device> = {}): Device {
  return { gpu: String(number), uuid: `GPU-${number}`, ...given };
}

/** The labels of a pod in namespace ml. */
export function labeled(pod: string): Pick<Device, "namespace" | "pod" | "container"> {
  return { namespace: "ml", pod, container: "main" };
}

/** A MIG instance of a GPU. */
export function instance(number: number, id: string, profile: string, given: Partial<Device> = {}): Device {
  return gpu(number, { instance: id, profile, ...given });
}

function scrapeOf(shape: ScrapeShape, at: number, node: string): Scrape {
  return {
    cluster: "test",
    node,
    target: `http://${node}:9400/metrics`,
    collector: "c-0",
    epoch: 1,
    sequence: 1,
    scrapedAtMillis: at,
    intervalMillis: 30_000,
    durationMicros: 900,
    dropped: {},
    shape,
    values: new Float64Array(0),
  };
}
