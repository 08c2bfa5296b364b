import { hash, uuidOf } from "../../../demo/fleet/hash.ts";
import { storedObject, type KubernetesObject } from "../../../demo/kubernetes/server/object.ts";
import type { ObjectStore } from "../../../demo/kubernetes/server/store.ts";
import {
  BusyPod,
  busyJobName,
  busyJobUid,
  busyNamespace,
  busyNodeName,
  firstOfJobs,
  type BusyPlan,
} from "./busy-pod.ts";

/** A cluster for load tests: many pods of a usual size, and changes to them at a rate. */
export interface BusyCluster {
  /** Fills a store with the namespaces, nodes, Jobs and pods. */
  fill(store: ObjectStore): void;
  /** Changes `count` pods: nine of ten get a new status, the tenth ends and another replaces it (two changes). */
  change(store: ObjectStore, count: number): void;
  /** Makes changes at a rate until it is stopped; `made` counts them. */
  changeAtRate(store: ObjectStore, eventsPerSecond: number): { readonly made: number; stop(): void };
}

const TICK_MILLIS = 20;
/** One pod of this number ends instead of changing. */
const ENDS_EVERY = 10;

/** Creates a cluster with a number of pods and nodes that depends only on its seed. Four of ten pods hold a GPU; each node has eight. */
export function createBusyCluster(plan: BusyPlan): BusyCluster {
  const lives = new Uint16Array(plan.pods);
  const turns = new Uint32Array(plan.pods);
  let changes = 0;

  function podAt(index: number): BusyPod {
    return new BusyPod(plan, index, lives[index]!, turns[index]!);
  }

  function change(store: ObjectStore, count: number): void {
    for (let made = 0; made < count; changes++) {
      const index = hash(plan.seed, changes, 8) % plan.pods;
      if (changes % ENDS_EVERY === 0 && made + 2 <= count) {
        const { namespace, name } = podAt(index);
        store.delete("pods", `${namespace}/${name}`);
        lives[index]! += 1;
        made += 1;
      } else {
        turns[index]! += 1;
      }
      store.put("pods", podAt(index));
      made += 1;
    }
  }

  return {
    fill(store) {
      const namespaces = new Set(Array.from({ length: plan.pods }, (_, index) => busyNamespace(plan, index)));
      for (const name of namespaces) store.put("namespaces", storedObject(namespaceObject(name)));
      for (let i = 0; i < plan.nodes; i++) store.put("nodes", storedObject(nodeObject(plan, i)));
      for (const index of firstOfJobs(plan)) store.put("batch/jobs", storedObject(jobObject(plan, index)));
      for (let i = 0; i < plan.pods; i++) store.put("pods", podAt(i));
    },
    change,
    changeAtRate(store, eventsPerSecond) {
      const began = performance.now();
      const state = { made: 0, stop: () => clearInterval(timer) };
      const timer = setInterval(() => {
        const due = Math.floor(((performance.now() - began) * eventsPerSecond) / 1000) - state.made;
        change(store, due);
        state.made += due;
      }, TICK_MILLIS);
      return state;
    },
  };
}

function namespaceObject(name: string): KubernetesObject {
  const uid = uuidOf(hash(Number(name.slice(-3)), 9));
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, uid, labels: { team: name } },
    status: { phase: "Active" },
  };
}

function jobObject(plan: BusyPlan, index: number): KubernetesObject {
  const metadata = { name: busyJobName(index), namespace: busyNamespace(plan, index), uid: busyJobUid(plan, index) };
  return { apiVersion: "batch/v1", kind: "Job", metadata, spec: { parallelism: 4, completions: 4 } };
}

function nodeObject({ seed }: BusyPlan, index: number): KubernetesObject {
  const name = busyNodeName(index);
  const amounts = { cpu: "96", memory: "1056000000Ki", pods: "110", "nvidia.com/gpu": "8" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      uid: uuidOf(hash(seed, index, 7)),
      creationTimestamp: "2026-01-02T06:00:00Z",
      labels: {
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": "p5.48xlarge",
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": `eu-west-1${"abc"[index % 3]}`,
        "karpenter.sh/nodepool": "load",
        "karpenter.sh/capacity-type": "on-demand",
        "nvidia.com/gpu.count": "8",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "nvidia.com/gpu.memory": "81559",
        "nvidia.com/gpu.replicas": "1",
        "nvidia.com/gpu.sharing-strategy": "none",
        "nvidia.com/mig.strategy": "single",
        "nvidia.com/cuda.driver-version.full": "570.133.20",
      },
    },
    spec: { taints: [{ key: "nvidia.com/gpu", value: "present", effect: "NoSchedule" }] },
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: [
        { type: "Ready", status: "True", reason: "KubeletReady", lastTransitionTime: "2026-01-02T06:01:00Z" },
      ],
    },
  };
}
