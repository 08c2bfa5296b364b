import { NO_ENERGY, type MeasuredEnergy, type UsageClaim } from "../../../domain/allocation/segment.ts";
import type {
  CountedGpus,
  Telemetry,
  UsageHolder,
  UsageHour,
  UsageMachine,
} from "../../../domain/allocation/usage-hour.ts";
import type { NodeGpus } from "../../../domain/inventory.ts";
import { multiply, rational, roundHalfEven, type Rational } from "../../../domain/exact/rational.ts";
import { partIdOf, type Claim } from "../../../domain/share/claim.ts";
import { cutGpu } from "../../../domain/share/cut.ts";
import { gpuMemoryOf } from "../../../domain/share/gpu-memory.ts";
import { heldFractions } from "../../../domain/share/held-fraction.ts";
import { sumOf } from "../../../domain/share/scale.ts";
import type { Measurement, Sums } from "./measurement.ts";
import type { MachineState, NodeRecord } from "./node-record.ts";
import type { PlannedClaim, PlannedSegment } from "./planned.ts";

/** A planned segment of a node, with the indexes of its measurements in the list of all. */
export interface MeasuredSegment {
  readonly record: NodeRecord;
  readonly planned: PlannedSegment;
  /** For each claim, the measurement of its device, and of its processes if they are reported separately. */
  readonly claims: readonly { readonly claim: Claim; readonly device: number; readonly process: number | undefined }[];
  /** The measurement of the whole GPU, if it matters. */
  readonly gpu: number | undefined;
  /** The measurement with the GPU's energy; undefined if no sample showed a GPU. */
  readonly energy: number | undefined;
}

const PPM = rational(1_000_000);

/** Adds the measurements of a segment to the list of all. */
export function askFor(record: NodeRecord, planned: PlannedSegment, list: Measurement[]): MeasuredSegment {
  const { from, until, gpu, gpuKey, claims, hasProcesses, unavailableBecause } = planned;
  const written = claims.map(({ holder, held }): Claim => ({ holder: holderName(holder), held }));
  const fractions = heldFractions(written, {
    cut: cutGpu(gpu, "max"),
    memory: gpuMemoryOf(gpu),
    sharedBy: "replica",
  }).map(({ fraction }) => fraction);
  const ask = (more: Omit<Measurement, "node" | "gpuKey" | "from" | "until">): number =>
    list.push({ node: record.node, gpuKey, from, until, ...more }) - 1;
  const byPart = new Map<string, Rational[]>();
  claims.forEach(({ held }, index) => {
    const part = partIdOf(held) ?? "";
    const onDevice = byPart.get(part) ?? [];
    onDevice.push(fractions[index]!);
    byPart.set(part, onDevice);
  });
  const devices = new Map(
    [...byPart].map(([part, onDevice]) => {
      const [claimsPpm, occupantPpm] = [sumOf(onDevice), rational(1, onDevice.length)].map(ppmOf);
      return [part, { claimsPpm: claimsPpm!, occupantPpm: occupantPpm! }];
    }),
  );
  const asked = claims.map(({ held, since, holder }, index) => {
    const part = partIdOf(held) ?? "";
    const measurement = { part, pod: "", since, claimPpm: ppmOf(fractions[index]!), ...devices.get(part)! };
    const device = ask({ series: "device", ...measurement });
    const pod = holder.kind === "pod" ? record.pods.get(holder.uid) : undefined;
    const isMeasured = hasProcesses && pod !== undefined;
    const name = isMeasured ? `${pod.holding.namespace}/${pod.holding.name}` : "";
    const process = isMeasured ? ask({ ...measurement, series: "process", pod: name }) : undefined;
    return { claim: written[index]!, device, process };
  });
  const whole = { part: "", pod: "", since: 0, claimPpm: 0, claimsPpm: 0, occupantPpm: 0 };
  const ofGpu = unavailableBecause === "" ? undefined : ask({ series: "gpu", ...whole });
  const isCut = record.seen.some((seen) => seen.gpuKey === gpuKey && seen.parts.length > 0);
  const known =
    ofGpu ?? (isCut ? undefined : asked.find((_, index) => partIdOf(claims[index]!.held) === undefined)?.device);
  const energy = gpuKey === "" ? undefined : (known ?? ask({ series: isCut ? "gpu" : "device", ...whole }));
  return { record, planned, claims: asked, gpu: ofGpu, energy };
}

function ppmOf(fraction: Rational): number {
  return Number(roundHalfEven(multiply(fraction, PPM)));
}

/** Returns the usage row of a segment from the sums of all measurements. */
export function usageHourOf(
  { record, planned, claims, gpu, energy }: MeasuredSegment,
  sums: readonly Sums[],
): UsageHour {
  const { slot, gpuKey, from, until, unavailableBecause, isCordoned } = planned;
  return {
    cluster: record.cluster,
    node: record.node,
    slot,
    gpuKey,
    segment: {
      fromMillis: from,
      untilMillis: until,
      gpu: planned.gpu,
      unavailableBecause,
      isCordoned,
      busyMillis: gpu === undefined ? 0 : sums[gpu]!.busyMillis,
      energy: energy === undefined ? NO_ENERGY : energyOf(sums[energy]!),
      claims: claims.map(({ claim, device, process }, index): UsageClaim => ({
        claim,
        stage: planned.claims[index]!.stage,
        measured: measuredOf(sums[device]!, process === undefined ? undefined : sums[process]!),
      })),
    },
    machine: machineOf(planned),
    holders: planned.claims.map((claim) => holderOf(record, planned, claim)),
    telemetry: claims.map(({ device }) => telemetryOf(sums[device]!)),
  };
}

function measuredOf(device: Sums, process: Sums | undefined): UsageClaim["measured"] {
  return {
    coveredMillis: (process ?? device).coveredMillis,
    busyMillis: device.busyMillis,
    activityPpmMillis: device.activityPpmMillis,
    activityAtClaimsPpmMillis: device.atClaimsPpmMillis,
    ...(process === undefined
      ? {}
      : {
          process: {
            atClaimPpmMillis: process.atClaimPpmMillis,
            atOccupantPpmMillis: process.atOccupantPpmMillis,
            atUsagePpmMillis: process.activityPpmMillis,
          },
        }),
  };
}

function energyOf({ energyMillijoules: millijoules, energyCoveredMillis: coveredMillis }: Sums): MeasuredEnergy {
  return { millijoules, coveredMillis };
}

function telemetryOf({ samples, firstAt, lastAt, maxPpm, memoryMaxMiB }: Sums): Telemetry {
  return { samples, firstAt, lastAt, activityMaxPpm: maxPpm, memoryMaxMiB };
}

/** A cache: the slots of a machine share one object, so that prices look at it once. */
const MACHINES = new WeakMap<MachineState, UsageMachine>();

function machineOf({ state, appearedAt, delivered }: PlannedSegment): UsageMachine {
  if (state === undefined) return { appearedAt, since: appearedAt, delivered, labels: {} };
  const known = MACHINES.get(state);
  if (known?.appearedAt === appearedAt && known.delivered === delivered) return known;
  const { uid, instanceType, region, zone, pool, capacityType, labels } = state.fact;
  const machine = {
    machine: uid,
    appearedAt,
    since: state.describedSince,
    delivered,
    counted: state.fact.gpus.map(countedOf),
    ...(instanceType === undefined ? {} : { instanceType }),
    ...(region === undefined ? {} : { region }),
    ...(zone === undefined ? {} : { zone }),
    ...(pool === undefined ? {} : { pool }),
    ...(capacityType === undefined ? {} : { capacityType }),
    labels,
  };
  MACHINES.set(state, machine);
  return machine;
}

function countedOf({ count, countedBy, otherCount }: NodeGpus): CountedGpus {
  return {
    count,
    ...(countedBy === undefined ? {} : { countedBy }),
    ...(otherCount === undefined ? {} : { otherCount }),
  };
}

function holderOf(record: NodeRecord, { namespaces }: PlannedSegment, { holder, evidence }: PlannedClaim): UsageHolder {
  const pod = holder.kind === "pod" ? record.pods.get(holder.uid) : undefined;
  const marksOf = (namespace: string) => {
    const space = namespaces.get(namespace);
    return { namespaceLabels: space?.labels ?? {}, namespaceAnnotations: space?.annotations ?? {} };
  };
  if (pod === undefined || holder.kind !== "pod") {
    const { namespace, name } = holder.kind === "pod" ? { namespace: "", name: holder.uid } : holder;
    return {
      evidence,
      kind: holder.kind,
      namespace,
      name,
      workloadKind: holder.kind === "job" ? "Job" : "Pod",
      workload: name,
      type: "other",
      queue: "",
      priorityClass: "",
      labels: {},
      annotations: {},
      ...marksOf(namespace),
    };
  }
  const { fact, holding } = pod;
  return {
    evidence,
    kind: "pod",
    namespace: fact.namespace,
    name: fact.name,
    since: holding.from,
    workloadKind: fact.workload.kind,
    workload: fact.workload.name,
    type: fact.type,
    queue: fact.queue ?? "",
    priorityClass: fact.priorityClass ?? "",
    labels: fact.labels,
    annotations: fact.annotations,
    ...(fact.marks === undefined ? {} : { marks: fact.marks }),
    ...marksOf(fact.namespace),
  };
}

function holderName(holder: PlannedClaim["holder"]): string {
  return holder.kind === "pod" ? holder.uid : `${holder.kind} ${holder.namespace}/${holder.name}`;
}
