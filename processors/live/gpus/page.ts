import { createPageWriter, labelText, type PageSink } from "./exposition.ts";
import type { DrawnNode, LiveDevices } from "./devices.ts";
import type { Line } from "./layout.ts";
import { READING } from "./readings.ts";
import { GPU_SERIES, type GpuSeries } from "./series.ts";
import { addWorkloads, type WorkloadSums } from "./workloads.ts";

/** The longest time that the page is processed before other work gets its turn. */
const TURN_MILLIS = 8;
const NOTHING = Buffer.alloc(0);

type LineSeries = Extract<keyof typeof GPU_SERIES, `device${string}` | `process${string}`>;
type WorkloadSeries = Exclude<keyof typeof GPU_SERIES, LineSeries>;

/** The value of each series of a device or process; NaN if it has none. */
const LINE_VALUES: Readonly<Record<LineSeries, (line: Line, prices: readonly number[]) => number>> = {
  deviceActivity: (line) => ofDevice(line, READING.activity),
  deviceMemoryUsed: (line) => ofDevice(line, READING.memoryUsed),
  deviceMemoryTotal: (line) => ofDevice(line, READING.memoryTotal),
  deviceTemperature: (line) => ofGpu(line, READING.temperature),
  devicePower: (line) => ofGpu(line, READING.power),
  deviceHolders: ({ of, holders }) => (of === "whole" || of === "part" ? holders : Number.NaN),
  deviceCost: ({ of, share, model }, prices) =>
    of === "process" || share === 0 ? Number.NaN : toMillionths(share * (prices[model] ?? Number.NaN)),
  processActivity: (line) => ofProcess(line, READING.processActivity),
  processMemoryUsed: (line) => ofProcess(line, READING.processMemoryUsed),
};

const WORKLOAD_VALUES: Readonly<Record<WorkloadSeries, (sums: WorkloadSums) => number>> = {
  workloadGpus: ({ gpus }) => toMillionths(gpus),
  workloadMeasured: ({ measured }) => toMillionths(measured),
  workloadActive: ({ active }) => toMillionths(active),
  workloadActivity: ({ active, measured }) => (measured > 0 ? toMillionths(active / measured) : Number.NaN),
  workloadMemoryUsed: ({ memoryUsed }) => memoryUsed,
  workloadTemperature: ({ temperature }) => temperature,
  workloadPower: ({ power }) => toMillionths(power),
  workloadCost: ({ cost }) => toMillionths(cost),
};

/**
 * Writes the page in the text exposition format 0.0.4: every series once, families together, without missing values. With a cluster's name
 * it has only that cluster. Without a currency it has no money. Other work gets its turn every 8 ms. Fails if the sink fails.
 */
export async function writeGpuPage(
  devices: LiveDevices,
  options: { readonly cluster?: string | undefined; readonly currency: string | undefined },
  sink: PageSink,
): Promise<void> {
  const { cluster, currency } = options;
  const writer = createPageWriter(sink);
  const turns = createTurns();
  const drawn: DrawnNode[] = [];
  const workloads = new Map<string, WorkloadSums>();
  for (const live of devices.nodes(cluster)) {
    const node = devices.draw(live);
    drawn.push(node);
    addWorkloads(workloads, node);
    if (turns.isOver()) await turns.next();
  }

  /** Makes room for samples, and lets other work run if it is time. Returns undefined if neither is needed. */
  function ready(samples: number, bytes: number): Promise<void> | undefined {
    if (turns.isOver()) return turns.next().then(() => ready(samples, bytes));
    return writer.hasRoom(samples, bytes) ? undefined : writer.flush(samples, bytes);
  }

  for (const [key, series] of Object.entries(GPU_SERIES) as [keyof typeof GPU_SERIES, GpuSeries][]) {
    if (series.money === true && currency === undefined) continue;
    const name = Buffer.from(series.name);
    const more = series.money === true ? Buffer.from(`,${labelText(["currency"], [currency ?? ""])}`) : NOTHING;
    const head = `# HELP ${series.name} ${series.help}\n# TYPE ${series.name} gauge\n`;
    await ready(0, Buffer.byteLength(head));
    writer.text(head);
    if (isOfLine(key)) {
      const valueOf = LINE_VALUES[key];
      for (const { layout, prices } of drawn) {
        const { lines, labels } = layout;
        const waits = ready(lines.length, labels.length);
        if (waits !== undefined) await waits;
        for (const line of lines) {
          const value = valueOf(line, prices);
          if (!Number.isNaN(value)) writer.sample(name, labels, line.start, line.end, more, value);
        }
      }
    } else {
      const valueOf = WORKLOAD_VALUES[key];
      for (const sums of workloads.values()) {
        const { labels } = sums;
        const waits = ready(1, labels.length);
        if (waits !== undefined) await waits;
        const value = valueOf(sums);
        if (!Number.isNaN(value)) writer.sample(name, labels, 0, labels.length, more, value);
      }
    }
  }
  await writer.end();
}

function isOfLine(key: keyof typeof GPU_SERIES): key is LineSeries {
  return GPU_SERIES[key].of !== "workload";
}

function ofDevice({ of, readings, row, parts }: Line, reading: number): number {
  if (of === "process" || row < 0) return Number.NaN;
  if (of === "cut" && parts.some((part) => !Number.isNaN(readings[part + reading]))) return Number.NaN;
  return readings[row + reading]!;
}

function ofGpu({ of, readings, gpu }: Line, reading: number): number {
  return of === "whole" || of === "cut" ? readings[gpu + reading]! : Number.NaN;
}

function ofProcess({ of, readings, row }: Line, reading: number): number {
  return of === "process" ? readings[row + reading]! : Number.NaN;
}

/** Rounds to millionths. Shares and prices have endless digits, and more digits are of no use. */
function toMillionths(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** Creates turns of work. Between them, all other waiting work runs. */
function createTurns(): { isOver(): boolean; next(): Promise<void> } {
  let begun = performance.now();
  return {
    isOver: () => performance.now() - begun > TURN_MILLIS,
    async next() {
      await new Promise(setImmediate);
      begun = performance.now();
    },
  };
}
