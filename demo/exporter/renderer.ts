import { createSlotMeter, type SlotMeter } from "../fleet/meter.ts";
import type { FleetGpu, FleetNode } from "../fleet/node.ts";
import { emptyReadings, readGpu, readShared, readSlot, type Readings } from "../fleet/readings.ts";
import { busStateAt, isUnlabeled, xidAt } from "../fleet/troubles.ts";
import { amdSeries } from "./amd.ts";
import { dcgmSeries } from "./dcgm.ts";
import { createPageLayout, type PageBuffer, type PageLayout } from "./page.ts";
import type { Row, Series } from "./row.ts";
import { smiSeries } from "./smi.ts";

/** A writer of the pages of one node's exporter. */
export interface PageRenderer {
  /**
   * Returns the page that the exporter collected at exactly this time. The bytes belong to `into` and are overwritten by the next page.
   * Equal times give equal pages, regardless of earlier pages.
   */
  render(timeMillis: number, into: PageBuffer): Buffer;
  /** The number of rows on the last page: GPUs, instances and sharing pods. */
  readonly rows: number;
}

interface GpuParts {
  readonly gpu: FleetGpu;
  readonly meters: readonly SlotMeter[];
  readonly whole: Readings;
  readonly parts: readonly Readings[];
}

const SERIES: Readonly<Record<FleetNode["make"]["exporter"], (rows: readonly Row[]) => Series[]>> = {
  "dcgm-exporter": dcgmSeries,
  "device-metrics-exporter": amdSeries,
  nvidia_gpu_exporter: smiSeries,
};

/** Creates a renderer of a node's pages. The text of a page is kept until a holder, a GPU or an XID changes. */
export function createPageRenderer(node: FleetNode): PageRenderer {
  const gpus: readonly GpuParts[] = node.gpus.map((gpu) => ({
    gpu,
    meters: gpu.slots.map((slot) => createSlotMeter(node, slot)),
    whole: emptyReadings(),
    parts: gpu.slots.map(() => emptyReadings()),
  }));
  const meters = gpus.flatMap((each) => each.meters);
  let validFrom = Infinity;
  let validUntil = -Infinity;
  let state = "";
  let layout: PageLayout = createPageLayout([]);
  let rows: readonly Row[] = [];

  /** Returns the part of the text that depends on troubles. The rest depends on the tenancies. */
  const stateAt = (timeMillis: number): string => {
    let text = isUnlabeled(node, timeMillis) ? "unlabeled" : "";
    for (let gpu = 0; gpu < gpus.length; gpu++) {
      const xid = xidAt(node, gpu, timeMillis);
      if (xid !== 0) text += `,${gpu}:${xid}`;
      if (busStateAt(node, gpu, timeMillis) === "gone") text += `,${gpu}:gone`;
    }
    return text;
  };

  return {
    render(timeMillis, into) {
      for (const meter of meters) meter.moveTo(timeMillis);
      const now = node.troubles.size === 0 ? "" : stateAt(timeMillis);
      if (timeMillis < validFrom || timeMillis >= validUntil || now !== state) {
        state = now;
        validFrom = Math.max(...meters.map(({ tenancy }) => tenancy.fromMillis));
        validUntil = Math.min(...meters.map(({ tenancy }) => tenancy.untilMillis));
        rows = gpus.flatMap((each) => rowsOf(node, each, timeMillis));
        layout = createPageLayout(SERIES[node.make.exporter](rows));
      }
      for (const each of gpus) read(node, each, timeMillis);
      return layout.write(into);
    },
    get rows() {
      return rows.length;
    },
  };
}

function rowsOf(node: FleetNode, { gpu, meters, whole, parts }: GpuParts, timeMillis: number): Row[] {
  if (busStateAt(node, gpu.index, timeMillis) === "gone") return [];
  const isHidden = isUnlabeled(node, timeMillis);
  const common = { node, gpu, xid: xidAt(node, gpu.index, timeMillis) };
  const podOf = (index: number): Pick<Row, "pod"> => {
    const pod = isHidden ? undefined : meters[index]?.tenancy.pod;
    return pod === undefined ? {} : { pod };
  };
  if (node.sharing === "time-slicing") {
    const holders = gpu.slots.flatMap((slot, i): Row[] => {
      const { pod } = podOf(i);
      return pod === undefined ? [] : [{ ...common, kind: "holder", slot, pod, device: whole, process: parts[i]! }];
    });
    const kind = holders.length > 0 ? "shared" : "whole";
    return [{ ...common, kind, device: whole, process: whole }, ...holders];
  }
  if (gpu.slots[0]?.instance === undefined) {
    return [{ ...common, kind: "whole", ...podOf(0), device: parts[0] ?? whole, process: whole }];
  }
  return gpu.slots.map((slot, i) => ({
    ...common,
    kind: "instance" as const,
    slot,
    ...podOf(i),
    device: parts[i]!,
    process: whole,
  }));
}

/** Takes the readings of a moment. Values of the whole GPU are repeated on each instance, as in DCGM. */
function read(node: FleetNode, { gpu, meters, whole, parts }: GpuParts, timeMillis: number): void {
  readGpu(node, gpu, meters, timeMillis, whole);
  gpu.slots.forEach((slot, i) => {
    const part = parts[i]!;
    if (node.sharing !== "time-slicing") Object.assign(part, whole);
    readSlot(node, slot, meters[i]!, timeMillis, part);
  });
  if (node.sharing === "time-slicing") readShared(node, gpu, parts, whole);
  // With MIG on and no instance, no slot has the memory.
  if (gpu.slots.length === 0) whole.fbFreeMib = node.model.memoryMib;
}
