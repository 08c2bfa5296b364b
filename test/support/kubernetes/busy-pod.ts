import { hash, suffixOf, uuidOf } from "../../../demo/fleet/hash.ts";
import type { ObjectMeta, StoredObject } from "../../../demo/kubernetes/server/object.ts";

const CREATED = Date.UTC(2026, 0, 5, 8);
const GPU_PODS_OF_TEN = 4;
const PODS_OF_JOB = 4;
const NAMESPACES = 200;

/** The common properties of all pods of a busy cluster, and the number of one among them. */
export interface BusyPlan {
  readonly seed: number;
  readonly pods: number;
  readonly nodes: number;
}

/** Returns the namespace of a pod by its number. Neighbors share one; those of one Job always do. */
export function busyNamespace({ pods }: BusyPlan, index: number): string {
  return `load-${String(Math.floor(((index - (index % PODS_OF_JOB)) * NAMESPACES) / pods)).padStart(3, "0")}`;
}

/** Returns the name of a node by its number. */
export function busyNodeName(index: number): string {
  return `node-${String(index).padStart(5, "0")}`;
}

/** Returns the name of a pod's Job. Neighbors share one, within their namespace. */
export function busyJobName(index: number): string {
  return `job-${String(Math.floor(index / PODS_OF_JOB)).padStart(6, "0")}`;
}

/** Returns true if a pod requests a GPU: four of ten do. */
function wantsGpu(index: number): boolean {
  return Math.floor(index / PODS_OF_JOB) % 10 < GPU_PODS_OF_TEN;
}

/**
 * A pod of a busy cluster, with about nine kilobytes of JSON. Only three numbers of it are stored. Its text is built on demand. `life`
 * counts the pods that had this number before, `turn` the changes of its status.
 */
export class BusyPod implements StoredObject {
  readonly plan: BusyPlan;
  readonly index: number;
  readonly life: number;
  readonly turn: number;

  constructor(plan: BusyPlan, index: number, life: number, turn: number) {
    this.plan = plan;
    this.index = index;
    this.life = life;
    this.turn = turn;
  }

  get name(): string {
    return `${busyJobName(this.index)}-${this.index % PODS_OF_JOB}-${suffixOf(hash(this.plan.seed, this.index, this.life), 5)}`;
  }

  get namespace(): string {
    return busyNamespace(this.plan, this.index);
  }

  get uid(): string {
    return uuidOf(hash(this.plan.seed, this.index, 5), this.life);
  }

  get node(): string {
    return busyNodeName(this.index % this.plan.nodes);
  }

  get labels(): Readonly<Record<string, string>> {
    return {
      app: `app-${this.index % 97}`,
      "batch.kubernetes.io/job-name": busyJobName(this.index),
      "batch.kubernetes.io/job-completion-index": String(this.index % PODS_OF_JOB),
      team: `team-${this.index % 40}`,
    };
  }

  field(path: string): string | undefined {
    if (path === "metadata.name") return this.name;
    if (path === "metadata.namespace") return this.namespace;
    if (path === "spec.nodeName") return this.node;
    return path === "status.phase" ? "Running" : "";
  }

  metadata(): ObjectMeta {
    return JSON.parse(`{${this.metadataFields()}}`) as ObjectMeta;
  }

  json(resourceVersion: string): string {
    const gpu = wantsGpu(this.index) ? '"nvidia.com/gpu":"1",' : "";
    const ready = new Date(CREATED + (this.index + this.turn) * 1000).toISOString().slice(0, 19);
    return `{"metadata":{"resourceVersion":"${resourceVersion}",${this.metadataFields()},"managedFields":${MANAGED_FIELDS}},"spec":{"nodeName":"${this.node}","containers":[{"name":"main","image":"registry.example/load/worker:3.1","resources":{"limits":{${gpu}"memory":"16Gi"},"requests":{${gpu}"cpu":"4","memory":"16Gi"}},${CONTAINER}],${SPEC},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"${ready}Z"},{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-05T08:00:03Z"}],"hostIP":"10.1.${this.index % 251}.9","podIP":"10.${this.index % 199}.${(this.index >> 8) % 251}.7","startTime":"2026-01-05T08:00:03Z","containerStatuses":[{"name":"main","state":{"running":{"startedAt":"2026-01-05T08:00:20Z"}},"lastState":{},"ready":true,"started":true,"restartCount":${this.turn % 5},"image":"registry.example/load/worker:3.1","imageID":"registry.example/load/worker@sha256:${"5e".repeat(32)}"}],"qosClass":"Burstable"}}`;
  }

  private metadataFields(): string {
    const job = busyJobName(this.index);
    return `"name":"${this.name}","generateName":"${job}-","namespace":"${this.namespace}","uid":"${this.uid}","creationTimestamp":"2026-01-05T08:00:01Z","labels":${JSON.stringify(this.labels)},"annotations":${ANNOTATIONS},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"${job}","uid":"${busyJobUid(this.plan, this.index)}","controller":true,"blockOwnerDeletion":true}]`;
  }
}

/** Returns the UID of a pod's Job. */
export function busyJobUid({ seed }: BusyPlan, index: number): string {
  return uuidOf(hash(seed, Math.floor(index / PODS_OF_JOB), 6));
}

/** Yields the numbers of the first pods of their Jobs. */
export function* firstOfJobs({ pods }: BusyPlan): Iterable<number> {
  for (let index = 0; index < pods; index += PODS_OF_JOB) yield index;
}

function fieldsOwned(names: readonly string[]): unknown {
  return Object.fromEntries(names.map((name) => [`f:${name}`, { ".": {}, "f:name": {}, "f:value": {} }]));
}

const ENV = Array.from({ length: 30 }, (_, i) => ({
  name: `WORKER_SETTING_${i}`,
  value: `value-${i}-${"v".repeat(24)}`,
}));

const ANNOTATIONS = JSON.stringify({
  "cni.example/networks": JSON.stringify([{ name: "pods", interface: "eth0", mtu: 9001, "default-route": true }]),
  "load.example/config": "k=v;".repeat(120),
});

const MANAGED_FIELDS = JSON.stringify(
  ["kube-controller-manager", "kubelet", "kueue"].map((manager) => ({
    manager,
    operation: "Update",
    apiVersion: "v1",
    time: "2026-01-05T08:00:02Z",
    fieldsType: "FieldsV1",
    fieldsV1: {
      "f:metadata": fieldsOwned(["labels", "annotations"]),
      "f:spec": fieldsOwned(ENV.slice(0, 18).map(({ name }) => name)),
    },
  })),
);

/** The rest of a container, and of a spec, from where what differs ends. */
const CONTAINER = JSON.stringify({
  env: ENV,
  volumeMounts: Array.from({ length: 6 }, (_, i) => ({
    name: `data-${i}`,
    mountPath: `/var/lib/load/data-${i}`,
    readOnly: true,
  })),
  terminationMessagePath: "/dev/termination-log",
  imagePullPolicy: "IfNotPresent",
}).slice(1);

const SPEC = JSON.stringify({
  volumes: Array.from({ length: 6 }, (_, i) => ({
    name: `data-${i}`,
    configMap: { name: `load-data-${i}`, defaultMode: 420 },
  })),
  restartPolicy: "Never",
  schedulerName: "default-scheduler",
  priorityClassName: "batch",
  tolerations: [{ key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" }],
}).slice(1);
