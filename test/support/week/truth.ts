import type { Fleet } from "../../../demo/fleet/fleet.ts";
import { loadBetween } from "../../../demo/fleet/load.ts";
import type { FleetGpu, FleetNode, Slot } from "../../../demo/fleet/node.ts";
import type { Tenancy } from "../../../demo/fleet/span.ts";
import { tenancyAt } from "../../../demo/fleet/tenancy.ts";
import { busStateAt, extraHeatAt, isExporterAway, isProfilingStuck, xidAt } from "../../../demo/fleet/troubles.ts";
import { livesAt } from "../../../demo/kubernetes/cluster/lives.ts";
import { machineAt } from "../../../demo/kubernetes/cluster/outages.ts";
import { waitingAt } from "../../../demo/kubernetes/cluster/waiting.ts";
import type { Labels } from "./recorder.ts";
import { HOUR_MILLIS as HOUR, MINUTE_MILLIS as MINUTE } from "../../../domain/time.ts";

/** Utilization is a twentieth above the load, and samples are a minute apart. Within this factor of a threshold, the result is undecided. */
const SLACK = 1.15;

/** A fault that the demo's script causes in its fleet. */
export interface Fault {
  readonly what: string;
  /** The alert that must fire for it, and the labels that identify it. */
  readonly alert: string;
  readonly labels: Labels;
  readonly sinceMillis: number;
  readonly untilMillis: number;
}

/** The faults of the script between two times for which an alert must fire, provided that the fault lasts long enough before the end. */
export function faultsBetween(fleet: Fleet, fromMillis: number, untilMillis: number): readonly Fault[] {
  const faults: Fault[] = [];
  const stretches = (
    isWrong: (timeMillis: number) => string,
    leastMillis: number,
    fault: (state: string) => Omit<Fault, "sinceMillis" | "untilMillis">,
  ): void => {
    let state = isWrong(fromMillis);
    // A fault that was present at the beginning has no known start.
    let since = Number.NaN;
    for (let at = fromMillis + MINUTE; at <= untilMillis; at += MINUTE) {
      const now = at === untilMillis ? "" : isWrong(at);
      if (now === state) continue;
      if (state !== "" && at - since >= leastMillis)
        faults.push({ ...fault(state), sinceMillis: since, untilMillis: at });
      state = now;
      since = at;
    }
  };
  for (const node of fleet.nodes) {
    const { name } = node;
    const isAway = (at: number): boolean => isExporterAway(node, at) && machineAt(node, at) !== undefined;
    stretches(
      (at) => (isAway(at) ? "away" : ""),
      7 * MINUTE,
      () => ({
        what: "an exporter does not answer",
        alert: "GPUExporterDown",
        labels: { instance: `${name}:9400` },
      }),
    );
    for (const { index, uuid } of node.gpus) {
      const gone = (at: number): string => (busStateAt(node, index, at) === "gone" ? "gone" : "");
      stretches(gone, 12 * MINUTE, () => ({
        what: "a GPU falls off the bus",
        alert: "GPUDisappeared",
        labels: { node: name },
      }));
      const latched = (at: number): string => (gone(at) === "" ? String(xidAt(node, index, at) || "") : "");
      stretches(latched, MINUTE, (code) => ({
        what: "a GPU reports an XID",
        alert: "GPUXidNewLatchedCode",
        labels: { UUID: uuid, code },
      }));
    }
  }
  return faults.filter(
    ({ alert, labels, sinceMillis }) => alert !== "GPUXidNewLatchedCode" || isNewCode(labels, sinceMillis),
  );

  /** A new code differs from the one before, and the day before did not have it: a latch that shows the same code again is not a new fault. */
  function isNewCode({ UUID, code }: Labels, sinceMillis: number): boolean {
    const { node, gpu } = gpuOf(fleet, UUID!)!;
    for (let at = sinceMillis - MINUTE; at > sinceMillis - 24 * HOUR; at -= MINUTE) {
      if (at < fromMillis) return true;
      if (busStateAt(node, gpu.index, at) !== "gone" && String(xidAt(node, gpu.index, at)) === code) return false;
    }
    return true;
  }
}

/** The cause in the script of an alert that fires at a time; undefined where there is no cause. */
export function reasonOf(fleet: Fleet, alert: string, labels: Labels, atMillis: number): string | undefined {
  const reason = REASONS[alert];
  if (reason === undefined) return undefined;
  const [what, isSo] = reason;
  return isSo({ fleet, labels, at: atMillis }) ? what : undefined;
}

interface Look {
  readonly fleet: Fleet;
  readonly labels: Labels;
  readonly at: number;
}

type Reason = readonly [what: string, isSo: (look: Look) => boolean];

/** For each alert: the possible cause, and whether the script had it at the time. */
const REASONS: Readonly<Record<string, Reason>> = {
  GPUExporterDown: [
    "an exporter does not answer",
    (look) => ofNode(look, (node) => isExporterAway(node, look.at - MINUTE)),
  ],
  GPUDisappeared: [
    "a GPU is off the bus",
    (look) =>
      ofNode(look, (node) => node.gpus.some(({ index }) => busStateAt(node, index, look.at - MINUTE) === "gone")),
  ],
  GPUXidNewLatchedCode: [
    "an XID has come within the hour",
    (look) =>
      ofGpu(look, (node, gpu) =>
        minutesBefore(look.at, HOUR).some((at) => String(xidAt(node, gpu.index, at)) === look.labels["code"]),
      ),
  ],
  GPUProfilingCountersStuck: ["profiling counters stand at 0", (look) => ofGpu(look, (node) => isProfilingStuck(node))],
  GPUNodeWithoutTelemetry: [
    "an exporter whose metrics rules don't read, or none",
    (look) =>
      ofNode(
        look,
        (node) => node.make.exporter === "nvidia_gpu_exporter" || machineAt(node, look.at - 16 * MINUTE) === undefined,
      ),
  ],
  GPUPodsPending: [
    "pods wait",
    ({ fleet, labels, at }) => {
      const waits = (timeMillis: number): boolean => {
        const { gangs, pods } = waitingAt(fleet, timeMillis);
        const named = [...gangs.map(({ name }) => name), ...pods.map(({ name }) => name)];
        return (
          named.some((name) => labels["pod"]!.startsWith(name)) ||
          livesAt(fleet, timeMillis).some(
            ({ pod, startMillis }) => pod.name === labels["pod"] && timeMillis < startMillis,
          )
        );
      };
      return waits(at - MINUTE) && waits(at - 20 * MINUTE);
    },
  ],
  GPUNodeUnallocated: [
    "no pod has held the node for 6 hours",
    (look) =>
      ofNode(look, (node) =>
        minutesBefore(look.at, 5.5 * HOUR, 5).every((at) =>
          slotsOf(node).every((slot) => tenancyAt(slot, at).pod === undefined),
        ),
      ),
  ],
  HighGPUMemoryUsage: [
    "a pod fills over 90 % of the memory",
    (look) =>
      ofGpu(look, (_, gpu) =>
        gpu.slots.some((slot) => (tenancyAt(slot, look.at - MINUTE).pod?.memoryRatio ?? 0) > 0.895),
      ),
  ],
  GPUAllocatedIdle: ["a pod does nothing for an hour", meansBelow(0.01, HOUR)],
  LowGPUUtilization: ["a pod is below 20 % for hours", meansBelow(0.2, HOUR)],
  GPUPodLowUtilization: ["a pod is below 40 % for an hour", meansBelow(0.4, HOUR)],
  GPUPodPartiallyIdle: ["a pod does nothing on one of its GPUs", meansBelow(0.01, 15 * MINUTE)],
  GPUSustainedLowUtilization: ["a pod is below 15 % for six hours", meansBelow(0.15, 6 * HOUR)],
  GPUNearSlowdownTemperature: ["a fan fails", isHeated],
  GPUSoftwareThermalThrottling: ["a fan fails", isHeated],
  HighGPUTemperature: ["a fan fails", isHeated],
  GPUMemoryTemperatureHigh: ["a fan fails", isHeated],
};

function isHeated(look: Look): boolean {
  return ofGpu(look, (node, gpu) =>
    minutesBefore(look.at, 45 * MINUTE).some((at) => extraHeatAt(node, gpu.index, at) > 0),
  );
}

/** True if a pod's load on a GPU was below a threshold on average over a time, or over the part of it in which the pod ran. */
function meansBelow(threshold: number, millis: number): (look: Look) => boolean {
  return ({ fleet, labels, at }) => {
    return tenanciesOf(fleet, labels, at - MINUTE).some(({ pod, load }) => {
      const from = Math.max(pod!.startMillis, at - millis);
      return loadBetween(load, from / 1000, at / 1000) / ((at - from) / 1000) < threshold * SLACK;
    });
  };
}

/** The tenancies of a named pod, one for each of its GPUs; of one GPU if the labels have it. */
function tenanciesOf(fleet: Fleet, { namespace, pod: name, UUID }: Labels, at: number): readonly Tenancy[] {
  return fleet.nodes
    .flatMap(({ gpus }) => gpus)
    .filter(({ uuid }) => UUID === undefined || UUID === uuid)
    .flatMap(({ slots }) => slots.map((slot) => tenancyAt(slot, at)))
    .filter(({ pod }) => pod?.name === name && pod?.namespace === namespace);
}

function slotsOf(node: FleetNode): readonly Slot[] {
  return node.gpus.flatMap(({ slots }) => slots);
}

function ofNode({ fleet, labels }: Look, isSo: (node: FleetNode) => boolean): boolean {
  const name = labels["node"] ?? labels["instance"]?.replace(/:.*/, "");
  const node = fleet.nodes.find((each) => each.name === name);
  return node !== undefined && isSo(node);
}

function ofGpu({ fleet, labels }: Look, isSo: (node: FleetNode, gpu: FleetGpu) => boolean): boolean {
  const found = gpuOf(fleet, labels["UUID"] ?? "");
  return found !== undefined && isSo(found.node, found.gpu);
}

function gpuOf(fleet: Fleet, uuid: string): { readonly node: FleetNode; readonly gpu: FleetGpu } | undefined {
  for (const node of fleet.nodes) {
    const gpu = node.gpus.find((each) => each.uuid === uuid);
    if (gpu !== undefined) return { node, gpu };
  }
  return undefined;
}

function minutesBefore(at: number, millis: number, step = 1): readonly number[] {
  return Array.from({ length: Math.floor(millis / MINUTE / step) }, (_, index) => at - index * step * MINUTE);
}
