import type { Refusal } from "./card.ts";
import type { GpuShape, RuleContext } from "./rule.ts";
import { devicesOf, highest, memoryPeakOf, type DeviceEvidence, type WorkloadEvidence } from "./evidence.ts";

/** The need of the work on each device of a workload, measured on the devices that it has. */
export interface Need {
  readonly devices: readonly DeviceEvidence[];
  readonly model: string;
  /** Of the device: the 98th percentile of the highest sample of five minutes, as Kruize takes it for performance. Parts of 1. */
  readonly activity: number;
  readonly memoryMiB: number;
  /** The 95th percentiles of the profiling counters; absent without the counters. */
  readonly tensor?: number;
  readonly dram?: number;
}

/**
 * Returns the need of a workload whose pods each have one whole GPU of the same model, and do not work on it in common; undefined for any
 * other workload, and the reason if a measurement that the need consists of is missing.
 */
export function needOfSingleGpus(workload: WorkloadEvidence): Need | Refusal | undefined {
  const devices = devicesOf(workload);
  const [first] = devices;
  if (first === undefined || workload.pods.some((pod) => pod.devices.length !== 1)) return undefined;
  if (devices.some(({ held, layout, model }) => held.what !== "whole" || layout !== "whole" || model !== first.model))
    return undefined;
  const isDistributed = workload.type === "training" && workload.hours.some(({ pods }) => pods > 1);
  if (isDistributed) return undefined;
  const activity = highest(devices, ({ peak98 }) => peak98);
  const memoryMiB = memoryPeakOf(devices);
  if (activity === undefined) return "coverage";
  if (memoryMiB === undefined) return "memory";
  const tensor = highest(devices, ({ tensor95 }) => tensor95);
  const dram = highest(devices, ({ dram95 }) => dram95);
  return {
    devices,
    model: first.model,
    activity,
    memoryMiB,
    ...(tensor === undefined ? {} : { tensor }),
    ...(dram === undefined ? {} : { dram }),
  };
}

/** Returns an amount with the headroom above it, in the unit of the amount. */
export function withHeadroom(amount: number, { headroom }: Pick<RuleContext, "headroom">): number {
  return amount * (1 + headroom);
}

/** Returns the fields of a what-if that move a holder to a shape. */
export function shapeFields(shape: Fields<GpuShape>): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    Object.entries(shape).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

type Fields<Of> = { readonly [Key in keyof Of]: Of[Key] | undefined };
