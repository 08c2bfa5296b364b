import { LAST_MILLIS } from "../time.ts";
import type { ClusterFact, ClusterFactBodies, SliceDevice } from "../cluster-fact.ts";
import type { Compute, OtherPods, PodCompute } from "../compute.ts";
import type { InventoryFact, NodeGpus } from "../inventory.ts";
import type { TrainingMarks } from "../training-marks.ts";
import type { DeviceEvidence, GpuAsk, PodTimes, WorkloadFact } from "../workload.ts";
import {
  amount,
  anything,
  byField,
  fields,
  flag,
  listOf,
  mark,
  optional,
  recordOf,
  text,
  whole,
  type FieldShapes,
  type Shape,
} from "./shape.ts";

/**
 * The shapes of the messages on the bus. A message of another shape becomes a dead letter, so that code after the decoders never gets a
 * `null` in place of a device. Unknown fields are ignored. Words that are only informative (a phase, a vendor) may be new ones.
 */

const millis = whole(LAST_MILLIS);
/** The largest accepted count. No node has more of anything, and no pod requests more. */
export const MOST_COUNT = 1_000_000;
/** A number of things on one node or of one pod, or an index among them. */
const count = whole(MOST_COUNT);
/** The shape of texts by name. */
export const texts = recordOf(text);
const amounts = recordOf(amount);
/** Returns the shape of an object with a shape for each field of its type. */
export const object = <Value>(shapes: FieldShapes<Value>): Shape => fields(shapes);

const origin = { cluster: text, epoch: millis, resourceVersion: text, seenAtMillis: millis };
const end = optional(fields({ atMillis: millis, inferred: flag }));
const marks = fields({ labels: optional(texts), annotations: optional(texts) });

const ask = byField(
  "kind",
  new Map<GpuAsk["kind"], Shape>([
    ["gpu", fields({ resource: text, count })],
    ["mig", fields({ resource: text, profile: text, count })],
    [
      "vgpu",
      fields({
        scheduler: text,
        count,
        memoryMiB: optional(amount),
        memoryPercent: optional(amount),
        coresPercent: optional(amount),
      }),
    ],
    ["fraction", fields({ count, ppm: optional(amount), memoryMiB: optional(amount) })],
    ["claim", fields({ claim: text })],
  ]),
);

const spell = fields({ from: millis, until: optional(millis) });
const evidence = byField(
  "by",
  new Map<DeviceEvidence["by"], Shape>([
    [
      "status",
      fields({
        uuid: optional(text),
        pciBusId: optional(text),
        gpuIndex: optional(count),
        instance: optional(count),
        units: count,
        isUnhealthy: optional(mark),
        unhealthy: optional(listOf(spell)),
      }),
    ],
    [
      "annotation",
      fields({
        uuid: text,
        container: count,
        memoryMiB: amount,
        coresPercent: amount,
        isInstance: optional(mark),
        gpuIndex: optional(count),
        instance: optional(count),
      }),
    ],
    ["group", fields({ group: text })],
    ["reservation", fields({ group: text, uuid: text })],
  ]),
);

const times = object<PodTimes>({
  created: millis,
  queued: optional(millis),
  admitted: optional(millis),
  scheduled: optional(millis),
  pulled: optional(millis),
  started: optional(millis),
  ready: optional(millis),
  finished: optional(millis),
  deletion: optional(millis),
});

const podCompute = object<PodCompute>({
  cpuRequestMillicores: optional(amount),
  cpuLimitMillicores: optional(amount),
  memoryRequestBytes: optional(amount),
  memoryLimitBytes: optional(amount),
});

const trainingMarks = object<TrainingMarks>({
  step: optional(amount),
  checkpointAt: optional(millis),
  checkpointSeconds: optional(amount),
  checkpointEverySeconds: optional(amount),
  tokensPerStep: optional(amount),
  tokensPerSecond: optional(amount),
  parameters: optional(amount),
});

/** The shape of a pod's fact. */
export const workloadShape = object<WorkloadFact>({
  ...origin,
  uid: text,
  namespace: text,
  name: text,
  node: text,
  owners: listOf(fields({ apiVersion: text, kind: text, name: text, uid: text })),
  ownersTruncated: flag,
  workload: fields({ kind: text, name: text }),
  type: text,
  phase: text,
  times,
  endReason: optional(text),
  pending: optional(fields({ reason: text, message: text })),
  restarts: amount,
  asks: listOf(ask),
  evidence: listOf(evidence),
  queue: optional(text),
  priorityClass: optional(text),
  gang: optional(fields({ kind: text, name: text, size: amount })),
  labels: texts,
  annotations: texts,
  marks: optional(fields({ pod: marks, owners: marks })),
  nodeSelector: texts,
  tolerations: listOf(text),
  compute: optional(podCompute),
  unpinnedImages: optional(listOf(text)),
  checkpoints: optional(text),
  deadlineSeconds: optional(amount),
  disruptionBudgets: optional(listOf(text)),
  training: optional(trainingMarks),
  end,
});

const gpus = object<NodeGpus>({
  vendor: text,
  model: optional(text),
  count,
  countedBy: optional(text),
  otherCount: optional(fields({ by: text, count })),
  offered: optional(amount),
  partitions: optional(count),
  memoryMiB: optional(amount),
  memoryUnits: optional(amount),
  replicas: count,
  sharing: text,
  mig: fields({ strategy: text, profiles: recordOf(count) }),
});

const compute = object<Compute>({ cpuMillicores: amount, memoryBytes: amount });
const others = object<OtherPods>({ pods: count, names: listOf(text), requested: compute });

/** The shape of a node's fact. */
export const inventoryShape = object<InventoryFact>({
  ...origin,
  node: text,
  uid: text,
  providerId: optional(text),
  joined: millis,
  gpus: listOf(gpus),
  capacity: amounts,
  allocatable: amounts,
  driverVersion: optional(text),
  cudaVersion: optional(text),
  devicePluginVersion: optional(text),
  exporterVersion: optional(text),
  instanceType: optional(text),
  region: optional(text),
  zone: optional(text),
  pool: optional(text),
  capacityType: optional(text),
  taints: listOf(fields({ key: text, value: text, effect: text })),
  conditions: listOf(fields({ type: text, status: text, reason: text, since: millis })),
  cordonedSince: optional(millis),
  compute: optional(compute),
  others: optional(others),
  labels: texts,
  knownUntil: optional(millis),
  end,
});

const taint = fields({ key: text, since: optional(millis) });
const sliceDevice = object<SliceDevice>({
  name: text,
  uuid: optional(text),
  pciBusId: optional(text),
  model: optional(text),
  vendor: optional(text),
  parentUuid: optional(text),
  profile: optional(text),
  memoryMiB: optional(amount),
  capacity: optional(amounts),
  isPartition: optional(mark),
  taints: optional(listOf(taint)),
});

/** The shape of a priority, which can be negative. */
const priority: Shape = (value, path) => (Number.isSafeInteger(value) ? undefined : `${path} is not a whole number`);

const bodies: { readonly [Kind in keyof ClusterFactBodies]: Shape } = {
  Namespace: object<ClusterFactBodies["Namespace"]>({ labels: texts, annotations: texts }),
  ResourceQuota: object<ClusterFactBodies["ResourceQuota"]>({ hard: amounts, used: amounts }),
  LimitRange: object<ClusterFactBodies["LimitRange"]>({ defaults: amounts, max: amounts }),
  PriorityClass: object<ClusterFactBodies["PriorityClass"]>({ value: priority, preempts: flag }),
  PodDisruptionBudget: object<ClusterFactBodies["PodDisruptionBudget"]>({
    minAvailable: optional(text),
    maxUnavailable: optional(text),
    selector: optional(listOf(fields({ key: text, operator: text, values: listOf(text) }))),
  }),
  Queue: object<ClusterFactBodies["Queue"]>({
    scheduler: text,
    parent: optional(text),
    quota: amounts,
    admitted: amounts,
    borrowed: amounts,
    pending: amount,
  }),
  Gang: object<ClusterFactBodies["Gang"]>({
    made: text,
    size: amount,
    queue: optional(text),
    queued: optional(millis),
    admitted: optional(millis),
    phase: text,
  }),
  TrainJob: object<ClusterFactBodies["TrainJob"]>({ progress: whole(100), since: optional(millis) }),
  ResourceClaim: object<ClusterFactBodies["ResourceClaim"]>({
    devices: listOf(
      fields({
        driver: text,
        pool: text,
        device: text,
        share: optional(text),
        consumed: optional(amounts),
      }),
    ),
    isMonitor: optional(mark),
    reservedFor: listOf(text),
    allocated: optional(millis),
  }),
  ResourceSlice: object<ClusterFactBodies["ResourceSlice"]>({
    driver: text,
    pool: text,
    node: text,
    devices: listOf(sliceDevice),
  }),
  DeviceTaintRule: object<ClusterFactBodies["DeviceTaintRule"]>({
    driver: optional(text),
    pool: optional(text),
    device: optional(text),
    taint,
  }),
};

const clusterFact = object<ClusterFact>({
  ...origin,
  kind: text,
  resource: text,
  namespace: text,
  name: text,
  uid: text,
  body: anything,
  end,
});

/** The shape of another object's fact. The body of an unknown kind is not checked. */
export const clusterFactShape: Shape = (value, path) => {
  const problem = clusterFact(value, path);
  if (problem !== undefined) return problem;
  const { kind, body } = value as { readonly kind: string; readonly body: unknown };
  const shape = Object.hasOwn(bodies, kind) ? bodies[kind as keyof typeof bodies] : fields({});
  return shape(body, `${path}.body`);
};
