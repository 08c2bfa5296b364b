import {
  NO_SAMPLE,
  NOT_HELD,
  type DeviceEvidence,
  type DeviceStats,
  type HourEvidence,
  type PodEvidence,
  type Window,
  type WorkloadEvidence,
} from "../../../domain/advice/evidence.ts";
import type { GpuShape } from "../../../domain/advice/rule.ts";
import { RESTARTABLE_LABEL } from "../../../domain/advice/rules/spot.ts";
import type { NodeGroup } from "../../../domain/advice/node-group.ts";
import type { HourSet } from "../../../domain/advice/packing/hour-set.ts";
import { hourNumber } from "../../../domain/advice/packing/node-time.ts";
import type { UsageHolder, UsageHour, UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import type { OwnerRules } from "../../../domain/owner/compile.ts";
import { teamOf } from "../../../domain/owner/owners.ts";
import { partIdOf } from "../../../domain/share/claim.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { subjectOf } from "../charge/charge-node.ts";
import { readUsage } from "../metering/usage-rows.ts";
import { deviceKey, podKey, readDeviceStats, readHourPeaks } from "./device-stats.ts";
import { readEngineDemand, type EngineDemand } from "./engine-demand.ts";
import { byKey, createNodeSums } from "./node-groups.ts";

/** The evidence of a cluster in a window. */
export interface ClusterEvidence {
  readonly workloads: readonly WorkloadEvidence[];
  readonly groups: readonly NodeGroup[];
  /** The hours of the window for which the cluster has usage. */
  readonly hours: HourSet;
  /** The kinds of GPUs of the cluster. */
  readonly shapes: readonly GpuShape[];
}

/** Sums of a workload's hour while rows are read. */
type HourSums = { -readonly [Key in Exclude<keyof HourEvidence, "pods">]: number } & { pods: Set<string> | undefined };

interface WorkloadSums {
  readonly pods: Map<string, PodSums>;
  readonly hours: (HourSums | undefined)[];
  firstAt: number;
  lastAt: number;
  holder: UsageHolder;
  machine: UsageMachine;
}

interface PodSums {
  readonly devices: Map<string, DeviceSums>;
  readonly hours: Set<number>;
  firstAt: number;
  lastAt: number;
}

type DeviceSums = Omit<DeviceEvidence, "heldMillis" | "coveredMillis" | "stats"> & {
  heldMillis: number;
  coveredMillis: number;
};

/**
 * Reads the evidence of all workloads and nodes of a cluster in a window from the published usage and the five-minute rollups. Workloads come
 * sorted by namespace, kind and name. Fails with a `StoreError`.
 */
export async function readEvidence(
  store: StoreClient,
  cluster: string,
  { window, owners }: { readonly window: Window; readonly owners: OwnerRules },
): Promise<ClusterEvidence> {
  const [{ workloads, nodes }, stats] = await Promise.all([
    sumUsage(store, cluster, window),
    readDeviceStats(store, cluster, window),
  ]);
  const serving = [...workloads.values()].filter(({ holder }) => holder.type === "inference");
  const namespaces = [...new Set(serving.map(({ holder }) => holder.namespace))].toSorted();
  const [peaks, demands] =
    namespaces.length === 0
      ? [new Map(), new Map()]
      : await Promise.all([
          readHourPeaks(store, cluster, window, namespaces),
          readEngineDemand(store, cluster, window, namespaces),
        ]);
  return {
    workloads: [...workloads]
      .toSorted(byKey)
      .map(([, sums]) => evidenceOf(cluster, sums, { window, owners, stats, peaks, demands })),
    groups: nodes.groups(owners),
    hours: nodes.hours,
    shapes: nodes.shapes(),
  };
}

/** Reads the usage of a window, and sums it by workload and by node. */
async function sumUsage(store: StoreClient, cluster: string, window: Window) {
  const workloads = new Map<string, WorkloadSums>();
  const nodes = createNodeSums(window);
  for await (const rows of readUsage(store, cluster, window)) {
    for (const row of rows) {
      nodes.add(row);
      row.holders.forEach((holder, index) => {
        if (holder.kind === "pod") addClaim(workloads, row, holder, index, window);
      });
    }
  }
  return { workloads, nodes };
}

function addClaim(
  workloads: Map<string, WorkloadSums>,
  row: UsageHour,
  holder: UsageHolder,
  index: number,
  window: Window,
): void {
  const { segment, machine } = row;
  const key = workloadKey(holder);
  let sums = workloads.get(key);
  if (sums === undefined) {
    sums = { pods: new Map(), hours: [], firstAt: segment.fromMillis, lastAt: 0, holder, machine };
    workloads.set(key, sums);
  }
  if (segment.untilMillis >= sums.lastAt) [sums.holder, sums.machine] = [holder, machine];
  stretch(sums, segment);
  let pod = sums.pods.get(holder.name);
  if (pod === undefined) {
    pod = { devices: new Map(), hours: new Set(), firstAt: segment.fromMillis, lastAt: 0 };
    sums.pods.set(holder.name, pod);
  }
  stretch(pod, segment);
  const hour = hourNumber(row, window);
  pod.hours.add(hour);
  addHour((sums.hours[hour] ??= noHour()), row, index);
  addDevice(pod.devices, row, index);
}

function stretch(sums: { firstAt: number; lastAt: number }, { fromMillis, untilMillis }: UsageHour["segment"]): void {
  sums.firstAt = Math.min(sums.firstAt, fromMillis);
  sums.lastAt = Math.max(sums.lastAt, untilMillis);
}

function noHour(): HourSums {
  return {
    heldMillis: 0,
    startingMillis: 0,
    waitingMillis: 0,
    coveredMillis: 0,
    activityPpmMillis: 0,
    maxPpm: 0,
    memoryMaxMiB: 0,
    pods: new Set(),
  };
}

function addHour(hour: HourSums, { segment, holders, telemetry }: UsageHour, index: number): void {
  const millis = segment.untilMillis - segment.fromMillis;
  const { stage, measured } = segment.claims[index]!;
  hour.heldMillis += millis;
  hour.pods!.add(holders[index]!.name);
  if (stage === "starting") hour.startingMillis += millis;
  else if (stage === "waiting") hour.waitingMillis += millis;
  else {
    const { activityMaxPpm, memoryMaxMiB } = telemetry[index]!;
    hour.coveredMillis += measured.coveredMillis;
    hour.activityPpmMillis += Number(measured.activityPpmMillis);
    hour.maxPpm = Math.max(hour.maxPpm, activityMaxPpm);
    hour.memoryMaxMiB = Math.max(hour.memoryMaxMiB, memoryMaxMiB);
  }
}

function addDevice(devices: Map<string, DeviceSums>, row: UsageHour, index: number): void {
  const { node, gpuKey, segment, machine } = row;
  const { claim, stage, measured } = segment.claims[index]!;
  const { model = "", memoryMiB, layout } = segment.gpu;
  const key = `${node}\n${gpuKey}\n${partIdOf(claim.held) ?? ""}`;
  let device = devices.get(key);
  if (device === undefined) {
    const of = { node, gpu: gpuKey, model, memoryMiB, held: claim.held, layout: layout.kind, machine };
    device = { ...of, heldMillis: 0, coveredMillis: 0 };
    devices.set(key, device);
  }
  if (stage !== "running") return;
  device.heldMillis += segment.untilMillis - segment.fromMillis;
  device.coveredMillis += measured.coveredMillis;
}

/** Returns the key of a holder's workload in its cluster. */
export function workloadKey({
  namespace,
  workloadKind,
  workload,
}: Pick<UsageHolder, "namespace" | "workloadKind" | "workload">): string {
  return `${namespace}\n${workloadKind}\n${workload}`;
}

/** The values that turn the sums of a workload into its evidence. */
interface Known {
  readonly window: Window;
  readonly owners: OwnerRules;
  readonly stats: ReadonlyMap<string, DeviceStats>;
  readonly peaks: ReadonlyMap<string, ReadonlyMap<number, number>>;
  readonly demands: ReadonlyMap<string, EngineDemand>;
}

function evidenceOf(cluster: string, sums: WorkloadSums, known: Known): WorkloadEvidence {
  const { holder, machine, firstAt, lastAt } = sums;
  const { window, owners } = known;
  const hours = (window.until - window.from) / HOUR_MILLIS;
  return {
    cluster,
    namespace: holder.namespace,
    kind: holder.workloadKind,
    workload: holder.workload,
    type: holder.type,
    isRestartable: [holder.labels, holder.annotations].some((marks) => marks[RESTARTABLE_LABEL] === "true"),
    team: teamOf(owners, subjectOf(holder, machine), lastAt - 1).value,
    firstAt,
    lastAt,
    pods: [...sums.pods].toSorted(byKey).map(([name, pod]) => podOf(name, pod, holder, known, hours)),
    hours: Array.from({ length: hours }, (_, hour) => {
      const { pods, ...of } = sums.hours[hour] ?? NO_HOUR;
      return { ...of, pods: pods?.size ?? 0 };
    }),
  };
}

const NO_HOUR: Readonly<HourSums> = { ...noHour(), pods: undefined };

function podOf(
  name: string,
  { devices, hours: held, firstAt, lastAt }: PodSums,
  { namespace }: UsageHolder,
  { stats, peaks, demands }: Known,
  hours: number,
): PodEvidence {
  const ofPod = peaks.get(podKey(namespace, name));
  const demand = demands.get(podKey(namespace, name));
  const hourly = <Of>(of: (hour: number) => Of): readonly Of[] => Array.from({ length: hours }, (_, hour) => of(hour));
  return {
    name,
    firstAt,
    lastAt,
    devices: [...devices].toSorted(byKey).map(([, device]): DeviceEvidence => {
      const { node, gpu, held: part } = device;
      const found = stats.get(deviceKey({ node, gpu, instance: partIdOf(part) ?? "", namespace, pod: name }));
      return found === undefined ? device : { ...device, stats: found };
    }),
    hourPeaks:
      ofPod === undefined ? [] : hourly((hour) => (held.has(hour) ? (ofPod.get(hour) ?? NO_SAMPLE) : NOT_HELD)),
    ...(demand === undefined
      ? {}
      : {
          engine: {
            hourDemands: hourly((hour) => (held.has(hour) ? (demand.hours.get(hour)?.ppm ?? NO_SAMPLE) : NOT_HELD)),
            hourRequests: hourly((hour) => demand.hours.get(hour)?.running ?? 0),
            limit: demand.limit,
          },
        }),
  };
}
