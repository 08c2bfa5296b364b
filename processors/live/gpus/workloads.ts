import type { DrawnNode } from "./devices.ts";
import type { Line } from "./layout.ts";
import { READING } from "./readings.ts";

/** The GPUs, activity and cost of a workload on the added nodes; NaN if unknown. */
export interface WorkloadSums {
  readonly labels: Buffer;
  /** GPUs held; 1 is a whole GPU. */
  gpus: number;
  /** The held GPUs with measured activity, and their active part. */
  measured: number;
  active: number;
  /** Memory in use, in bytes. */
  memoryUsed: number;
  /** The temperature of the hottest GPU, in degrees Celsius. */
  temperature: number;
  /** Power in watts. */
  power: number;
  /** The cost per hour. */
  cost: number;
}

/** Adds the sums of workloads on a node, by their labels. */
export function addWorkloads(sums: Map<string, WorkloadSums>, { layout, prices }: DrawnNode): void {
  const { holds, lines } = layout;
  const ofHolds = holds.map(({ workload: { text } }) => {
    const known = sums.get(text);
    if (known !== undefined) return known;
    const sum = nothing(Buffer.from(text));
    sums.set(text, sum);
    return sum;
  });
  for (const [index, { gpus, model }] of holds.entries()) {
    const sum = ofHolds[index]!;
    sum.gpus += gpus;
    sum.cost = plus(sum.cost, gpus * (prices[model] ?? Number.NaN));
  }
  for (const line of lines) {
    const sum = ofHolds[line.hold];
    if (sum !== undefined) addLine(sum, line);
  }
}

function addLine(sum: WorkloadSums, { of, readings, row, gpu, share, held }: Line): void {
  const isShared = of === "process";
  const activity = readings[row + (isShared ? READING.processActivity : READING.activity)]!;
  if (!Number.isNaN(activity)) {
    sum.measured = plus(sum.measured, held);
    // A holder of a quarter counts as at most a quarter active, even if it uses what others leave.
    sum.active = plus(sum.active, Math.min(activity * share, held));
  }
  sum.memoryUsed = plus(sum.memoryUsed, readings[row + (isShared ? READING.processMemoryUsed : READING.memoryUsed)]!);
  const temperature = readings[gpu + READING.temperature]!;
  if (!Number.isNaN(temperature) && !(temperature <= sum.temperature)) sum.temperature = temperature;
  sum.power = plus(sum.power, readings[gpu + READING.power]! * held);
}

function nothing(labels: Buffer): WorkloadSums {
  const none = Number.NaN;
  return {
    labels,
    gpus: 0,
    measured: none,
    active: none,
    memoryUsed: none,
    temperature: none,
    power: none,
    cost: none,
  };
}

/** Adds a value to a sum; NaN counts as unknown. */
function plus(sum: number, more: number): number {
  if (Number.isNaN(more)) return sum;
  return Number.isNaN(sum) ? more : sum + more;
}
