import type { UsageHour, UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import type { CapacityType } from "../../../domain/inventory.ts";
import { NO_ENERGY, type Stage, type UsageClaim } from "../../../domain/allocation/segment.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { WorkloadType } from "../../../domain/workload.ts";
import { newRunId, publishRun } from "../../../processors/ledger/runs/runs.ts";
import { insertUsage } from "../../../processors/ledger/metering/usage-rows.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { columnsOf, createBlocks, namesOf, type RowOf } from "../../../runtime/store/schema/table.ts";
import { arrayOf, text, uint32 } from "../../../runtime/store/schema/types.ts";

/** A node with equal GPUs. */
export interface PlantedNode {
  readonly name: string;
  readonly model: string;
  readonly memoryMiB: number;
  readonly gpus: number;
  readonly pool: string;
  /** On demand by default. */
  readonly capacityType?: CapacityType;
}

/** Five minutes of a device: parts per million of the device. Undefined: no sample. */
export type Interval = { readonly mean: number; readonly max: number } | undefined;

/** A pod on some GPUs of a node, for some hours of the week. */
export interface PlantedPod {
  readonly name: string;
  readonly node: PlantedNode;
  readonly slots: readonly number[];
  readonly fromHour?: number;
  readonly untilHour?: number;
  /** The stage of an hour; running by default. */
  stage?(hour: number): Stage;
  /** The activity of a device in a five-minute interval, counted from the start. `device` is an index of `slots`. */
  activity(interval: number, device: number): Interval;
  readonly memoryMiB: number | ((device: number) => number);
  /** The counters of a device as factors of its mean activity; absent without profiling counters. */
  readonly profile?: { readonly sm: number; readonly tensor: number; readonly dram: number };
}

/** A workload with its pods. */
export interface PlantedWorkload {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly type: WorkloadType;
  readonly labels?: Readonly<Record<string, string>>;
  readonly pods: readonly PlantedPod[];
}

const INTERVALS_PER_HOUR = 12;
const INTERVAL_MILLIS = HOUR_MILLIS / INTERVALS_PER_HOUR;
const IDLE_PPM = 10_000n;

const HOUR_COLUMNS = {
  node: text,
  gpu_key: text,
  namespace: text,
  pod: text,
  model: text,
  hour: uint32,
  memory: uint32,
  total: uint32,
  /** Empty without profiling counters: the factors per thousand. */
  profile: arrayOf(uint32),
  interval: arrayOf(uint32),
  mean: arrayOf(uint32),
  max: arrayOf(uint32),
};

/**
 * Stores the metered usage and the five-minute rollups of hours from a start on, as the meter and the rollups would have left them.
 */
export async function plantHours(
  store: StoreClient,
  of: {
    readonly cluster: string;
    readonly start: number;
    readonly hours: number;
    readonly nodes: readonly PlantedNode[];
    readonly workloads: readonly PlantedWorkload[];
  },
): Promise<void> {
  const { cluster, start, hours, nodes, workloads } = of;
  const table = `planted_${cluster}`;
  await store.command(
    `CREATE TABLE ${table} (${Object.entries(HOUR_COLUMNS)
      .map(([name, type]) => `${name} ${type.sql}`)
      .join(", ")}) ENGINE = Memory`,
  );
  const columns = columnsOf(HOUR_COLUMNS);
  const blocks = createBlocks<RowOf<typeof HOUR_COLUMNS>>(columns);
  const held = heldSlots(workloads);
  for (let hour = 0; hour < hours; hour++) {
    const windowStart = start + hour * HOUR_MILLIS;
    const run = { cluster, windowStart, runId: newRunId(), generation: 1, watermark: new Map(), publishedAt: start };
    const rows = nodes.flatMap((node) => nodeHour(cluster, node, { hour, start, held }, blocks));
    await insertUsage(store, run.runId, rows);
    await publishRun(store, "usage", run, { scrapes: 0, rows: rows.length, hash: "1" });
    await store.insertRows(table, namesOf(columns), blocks.take());
    await rollUp(store, table, cluster, windowStart);
  }
  await store.command(`DROP TABLE ${table}`);
}

/** The pods that ever hold a slot, by node and slot. */
type HeldSlots = ReadonlyMap<
  string,
  readonly { readonly workload: PlantedWorkload; readonly pod: PlantedPod; readonly device: number }[]
>;

function heldSlots(workloads: readonly PlantedWorkload[]): HeldSlots {
  const held = new Map<string, { workload: PlantedWorkload; pod: PlantedPod; device: number }[]>();
  for (const workload of workloads)
    for (const pod of workload.pods)
      pod.slots.forEach((slot, device) => {
        const key = `${pod.node.name} ${slot}`;
        held.set(key, [...(held.get(key) ?? []), { workload, pod, device }]);
      });
  return held;
}

function nodeHour(
  cluster: string,
  node: PlantedNode,
  { hour, start, held }: { readonly hour: number; readonly start: number; readonly held: HeldSlots },
  blocks: ReturnType<typeof createBlocks<RowOf<typeof HOUR_COLUMNS>>>,
): readonly UsageHour[] {
  const { name, model, memoryMiB, pool } = node;
  const machine: UsageMachine = {
    appearedAt: start - HOUR_MILLIS,
    since: start - HOUR_MILLIS,
    delivered: node.gpus,
    pool,
    capacityType: node.capacityType ?? "on-demand",
    labels: {},
  };
  return Array.from({ length: node.gpus }, (_, slot): UsageHour => {
    const gpuKey = `GPU-${name}-${slot}`;
    const holder = held
      .get(`${name} ${slot}`)
      ?.find(({ pod: { fromHour = 0, untilHour = Infinity } }) => fromHour <= hour && hour < untilHour);
    const fromMillis = start + hour * HOUR_MILLIS;
    const row = { cluster, node: name, slot, gpuKey, machine };
    const gpu = { model, memoryMiB, layout: { kind: "whole" } } as const;
    const segment = {
      fromMillis,
      untilMillis: fromMillis + HOUR_MILLIS,
      gpu,
      unavailableBecause: "",
      isCordoned: false,
      energy: NO_ENERGY,
    };
    if (holder === undefined)
      return { ...row, segment: { ...segment, busyMillis: 0, claims: [] }, holders: [], telemetry: [] };
    const { workload, pod, device } = holder;
    const stage = pod.stage?.(hour) ?? "running";
    const intervals = Array.from({ length: INTERVALS_PER_HOUR }, (__, index) =>
      pod.activity(hour * INTERVALS_PER_HOUR + index, device),
    );
    const memory = typeof pod.memoryMiB === "number" ? pod.memoryMiB : pod.memoryMiB(device);
    const seen = intervals.flatMap((each, interval) => (each === undefined ? [] : [{ ...each, interval }]));
    if (seen.length > 0)
      blocks.write({
        node: name,
        gpu_key: gpuKey,
        namespace: workload.namespace,
        pod: pod.name,
        model,
        hour,
        memory,
        total: memoryMiB,
        profile: pod.profile === undefined ? [] : Object.values(pod.profile).map((factor) => Math.round(factor * 1000)),
        interval: seen.map(({ interval }) => interval),
        mean: seen.map(({ mean }) => mean),
        max: seen.map(({ max }) => max),
      });
    const coveredMillis = seen.length * INTERVAL_MILLIS;
    const activityPpmMillis = seen.reduce((sum, { mean }) => sum + BigInt(mean) * BigInt(INTERVAL_MILLIS), 0n);
    const busyMillis = activityPpmMillis >= IDLE_PPM * BigInt(coveredMillis) ? coveredMillis : 0;
    const measured = { coveredMillis, busyMillis, activityPpmMillis, activityAtClaimsPpmMillis: activityPpmMillis };
    const claim: UsageClaim = { claim: { holder: `uid-${pod.name}`, held: { what: "whole" } }, stage, measured };
    return {
      ...row,
      segment: { ...segment, busyMillis, claims: [claim] },
      holders: [
        {
          evidence: "label",
          kind: "pod",
          namespace: workload.namespace,
          name: pod.name,
          since: start - HOUR_MILLIS,
          workloadKind: workload.kind,
          workload: workload.name,
          type: workload.type,
          queue: "",
          priorityClass: "",
          labels: workload.labels ?? {},
          annotations: {},
          namespaceLabels: { team: workload.namespace },
          namespaceAnnotations: {},
        },
      ],
      telemetry: [
        {
          samples: seen.length * 10,
          firstAt: fromMillis,
          lastAt: fromMillis + HOUR_MILLIS - 1000,
          activityMaxPpm: Math.max(0, ...seen.map(({ max }) => max)),
          memoryMaxMiB: memory,
        },
      ],
    };
  });
}

/** Makes the five-minute rollups of an hour from the planted rows. */
async function rollUp(store: StoreClient, table: string, cluster: string, windowStart: number): Promise<void> {
  const run = {
    cluster,
    windowStart,
    runId: newRunId(),
    generation: 1,
    watermark: new Map(),
    publishedAt: windowStart,
  };
  const counter = (index: number): string => `if(empty(profile), 0, intDiv(each_mean * profile[${index}], 1000) * ms)`;
  const has = "if(empty(profile), 0, ms)";
  await store.command(
    `INSERT INTO gpu_5m (run_id, cluster, node, gpu_key, scope, holder_namespace, holder_pod, bucket, model, samples, covered_ms,
       activity_ms, activity_ppm_ms, activity_max_ppm, sm_ms, sm_ppm_ms, tensor_ms, tensor_ppm_ms, dram_ms, dram_ppm_ms,
       fb_used_max_bytes, fb_total_max_bytes)
     SELECT toUUID({run:String}), {cluster:String}, node, gpu_key, 'gpu', namespace, pod,
       toDateTime(intDiv({start:Int64}, 1000) + each_interval * 300, 'UTC'), model, 10, ${INTERVAL_MILLIS},
       ${INTERVAL_MILLIS} AS ms, each_mean * ms, each_max, ${has}, ${counter(1)}, ${has}, ${counter(2)}, ${has}, ${counter(3)},
       toUInt64(memory) * 1048576, toUInt64(total) * 1048576
     FROM ${table} ARRAY JOIN interval AS each_interval, mean AS each_mean, max AS each_max`,
    { run: run.runId, cluster, start: windowStart },
  );
  await store.command(`TRUNCATE TABLE ${table}`);
  await publishRun(store, "rollup", run, { scrapes: 0, rows: 0, hash: "1" });
}
