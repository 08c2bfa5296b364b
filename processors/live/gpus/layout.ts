import type { Holder } from "../../../domain/holder.ts";
import { approximate } from "../../../domain/exact/rational.ts";
import type { Regime } from "../../../domain/regime.ts";
import type { MigMeasure } from "../../../domain/share/mig-shape.ts";
import { kindOf } from "../../ledger/plan/slots.ts";
import type { LiveOwner, LivePod, LivePods } from "../pods.ts";
import { labelText } from "./exposition.ts";
import { READINGS } from "./readings.ts";
import { cutOf, gpusOf, holdersOf, type GpuRows, type TargetSample } from "./rows.ts";
import { DEVICE_LABELS, WORKLOAD_LABELS } from "./series.ts";

/** The series that share one set of labels. */
export interface Line {
  /**
   * `whole`: a whole GPU. `part`: a part of a GPU. `cut`: a GPU with parts: the values of the whole GPU, and those that no part
   * has. `process`: one pod's processes on a shared device.
   */
  readonly of: "whole" | "part" | "cut" | "process";
  /** The range of its labels in the node's labels. */
  readonly start: number;
  readonly end: number;
  readonly readings: Float64Array;
  /** The start of its own row in the readings, and of its GPU's row; -1 if the page has no own row. */
  readonly row: number;
  readonly gpu: number;
  /** For a cut GPU, the starts of its parts' rows. */
  readonly parts: readonly number[];
  /** The device's part of a GPU; for a cut GPU, the part that none of its parts has. */
  readonly share: number;
  /** The number of pods on the device. */
  readonly holders: number;
  /** The sole holder, or the owner of the processes, as an index into the node's holds; -1 for none. */
  readonly hold: number;
  /** The part of a GPU that it holds. */
  held: number;
  /** The GPU's model, as an index into the node's models. */
  readonly model: number;
}

/** The own fields of a line for `add`. */
type OwnOfLine = Omit<Line, "start" | "end" | "readings" | "gpu" | "hold">;

/** A workload's labels, and the owner that they were made from. */
export interface LiveWorkload {
  readonly text: string;
  readonly owner: LiveOwner;
}

/** The GPUs that a pod, or another holder, has on a node. */
export interface Hold {
  /** Empty if no fact has it. */
  readonly uid: string;
  readonly workload: LiveWorkload;
  /** GPUs held; 1 is a whole GPU. */
  readonly gpus: number;
  /** The model of its first GPU, as an index into the node's models. */
  readonly model: number;
}

/** The series of a node, and its holders. */
export interface NodeLayout {
  readonly labels: Buffer;
  readonly lines: readonly Line[];
  readonly holds: readonly Hold[];
  readonly models: readonly (string | undefined)[];
  /** The number of physical GPUs in samples. */
  readonly gpus: number;
}

/** The input of a layout. */
export interface LayoutInput {
  readonly cluster: string;
  readonly node: string;
  /** The samples of the node's targets, newest first. If two pages have one GPU, the newer page counts. */
  readonly samples: readonly TargetSample[];
  readonly pods: LivePods;
  readonly measure: MigMeasure;
  /** The previous layout: the holder of a device at the time of its sample holds it until another sample shows otherwise. */
  readonly former: NodeLayout | undefined;
}

/** Regimes in which a pod has a GPU, or an instance of one, for itself. */
const ALONE: ReadonlySet<Regime> = new Set(["whole", "mig", "partition", "dra"]);
const NO_LABELS = ["", "", "", "", "", "", ""];
const NO_PARTS: readonly number[] = [];

/**
 * Builds the series of a node. A sole holder of a device is named on its series. On a shared device, pods with their own row on the page
 * are named on the series of their processes. A device that is held in common names no pod.
 */
export function layOut(input: LayoutInput): NodeLayout {
  const { cluster, node, samples, pods, measure } = input;
  const kinds = pods.node(cluster, node)?.gpus ?? [];
  const isNodeShared = kinds.some(({ sharing, replicas }) => sharing !== "none" || replicas > 1);
  const models: (string | undefined)[] = [];
  const holders = createHolders(input);
  const labels = createLabels();
  const lines: Line[] = [];
  /** The lines of the processes on each shared device. */
  const onDevices: (readonly Line[])[] = [];

  function isOfParts({ uid }: Holder): boolean {
    const pod = holders.pod(uid);
    return pod === undefined ? isNodeShared : isParted(pod);
  }

  function add(gpu: GpuRows, part: string, holder: Holder | undefined, line: OwnOfLine): void {
    const { of, row, parts, share, holders: pods, held, model } = line;
    const hold = holder === undefined ? -1 : holders.hold(holder, model);
    const whose = holder === undefined ? NO_LABELS : ownerLabels(holders.owner(hold), holder.name);
    const index = gpu.sample.shape.devices[gpu.first]!.gpu ?? "";
    const { start, end } = labels.add(labelText(DEVICE_LABELS, [cluster, node, index, gpu.key, part, ...whose]));
    const { readings } = gpu.sample;
    const ofGpu = gpu.first * READINGS;
    lines.push({ of, start, end, readings, row, gpu: ofGpu, parts, share, holders: pods, hold, held, model });
  }

  function addDevice(gpu: GpuRows, part: string, of: "whole" | "part", share: number, model: number): void {
    const rows = gpu.devices.get(part)!;
    const { named, count, sole } = holdersOf(gpu, rows);
    const alone = sole !== undefined && !isOfParts(sole) ? sole : undefined;
    const parts = NO_PARTS;
    add(gpu, part, alone, { of, row: rows[0] * READINGS, parts, share, holders: count, held: share, model });
    if (alone !== undefined) return;
    const held = share / count;
    const first = lines.length;
    for (const { row, holder } of named) {
      add(gpu, part, holder, { of: "process", row: row * READINGS, parts, share, holders: count, held, model });
    }
    onDevices.push(lines.slice(first));
  }

  const gpus = gpusOf(samples);
  for (const gpu of gpus) {
    const first = gpu.sample.shape.devices[gpu.first]!;
    const kind = kindOf(Number(first.gpu), kinds);
    const model = modelIndex(models, kind?.model ?? first.model);
    const parts = [...gpu.devices.keys()].filter((part) => part !== "");
    if (parts.length === 0) {
      addDevice(gpu, "", "whole", 1, model);
      continue;
    }
    const cut = cutOf(gpu, kind, measure);
    const own = gpu.devices.get("")?.[0];
    add(gpu, "", undefined, {
      of: "cut",
      row: own === undefined ? -1 : own * READINGS,
      parts: parts.map((part) => gpu.devices.get(part)![0] * READINGS),
      share: approximate(cut.remainder),
      holders: 0,
      held: 0,
      model,
    });
    for (const part of parts) addDevice(gpu, part, "part", approximate(cut.part(part)!.share), model);
  }
  const there = Math.max(
    gpus.length,
    sumOf(kinds, ({ count }) => count),
  );
  const holds = holders.holds({ lines, onDevices, gpus: there }, () => modelIndex(models, kinds[0]?.model));
  return { labels: labels.bytes(), lines, holds, models, gpus: gpus.length };
}

/** Creates the holders of a node: those that rows name, in the order of the calls, then the pods that no row names. */
function createHolders({ cluster, node, pods, former }: LayoutInput) {
  const known = new Map(pods.podsOn(cluster, node).map((pod) => [pod.uid, pod]));
  const before = new Map(former?.holds.map(({ uid, workload }) => [uid, workload.owner]));
  const indexes = new Map<string, number>();
  const found: { readonly uid: string; readonly owner: LiveOwner; readonly model: number }[] = [];
  const workloads = new Map<string, LiveWorkload>();

  function find({ uid, namespace, name }: Holder, model: number): (typeof found)[number] {
    const owner = uid === "" ? undefined : (known.get(uid) ?? before.get(uid));
    if (owner !== undefined) return { uid, owner, model };
    return { uid: "", owner: pods.strangerOf(cluster, namespace, name), model };
  }

  function workloadOf(owner: LiveOwner): LiveWorkload {
    const text = labelText(WORKLOAD_LABELS, [cluster, owner.namespace, ...wordsOf(owner)]);
    const workload = workloads.get(text) ?? { text, owner };
    workloads.set(text, workload);
    return workload;
  }

  /** Returns the GPUs of a holder that is seen on some lines. Its other devices count as its requests do. */
  function seenGpus(uid: string, lines: readonly Line[]): number {
    const pod = known.get(uid);
    const seen = sumOf(lines, ({ held }) => held);
    return pod === undefined || lines.length >= pod.devices ? seen : Math.max(approximate(pod.gpus), seen);
  }

  return {
    pod: (uid: string): LivePod | undefined => known.get(uid),
    owner: (hold: number): LiveOwner => found[hold]!.owner,
    hold(holder: Holder, model: number): number {
      const key = holder.uid === "" ? `${holder.namespace}/${holder.name}` : holder.uid;
      const index = indexes.get(key) ?? found.push(find(holder, model)) - 1;
      indexes.set(key, index);
      return index;
    },
    holds({ lines, onDevices, gpus }: SeenLines, modelOfNode: () => number): readonly Hold[] {
      const byHold = found.map((): Line[] => []);
      for (const line of lines) byHold[line.hold]?.push(line);
      for (const [index, { uid }] of found.entries()) {
        const pod = known.get(uid);
        if (pod !== undefined && pod.devices > 0) divide(pod, byHold[index]!);
      }
      for (const ofDevice of onDevices) scale(ofDevice);
      const seen = found.map(({ uid, owner, model }, index): Hold => {
        return { uid, workload: workloadOf(owner), gpus: seenGpus(uid, byHold[index]!), model };
      });
      const unseen = [...known.values()].filter(({ uid }) => !indexes.has(uid));
      const [parted, whole] = [true, false].map((is) => unseen.filter((pod) => isParted(pod) === is)) as [
        LivePod[],
        LivePod[],
      ];
      // Parts that nobody can place are of the GPUs that are there.
      const held = (pods: readonly LivePod[]): number => sumOf(pods, (pod) => approximate(pod.gpus));
      const left = Math.max(0, gpus - sumOf(seen, (hold) => hold.gpus) - held(whole));
      const factor = held(parted) > left ? left / held(parted) : 1;
      const unseenHold = (pod: LivePod, part: number): Hold => {
        const { uid, gpus: asked } = pod;
        return { uid, workload: workloadOf(pod), gpus: approximate(asked) * part, model: modelOfNode() };
      };
      return [...seen, ...whole.map((pod) => unseenHold(pod, 1)), ...parted.map((pod) => unseenHold(pod, factor))];
    },
  };
}

/** The lines of a node, those of the processes on each shared device, and the number of GPUs that are there. */
interface SeenLines {
  readonly lines: readonly Line[];
  readonly onDevices: readonly (readonly Line[])[];
  readonly gpus: number;
}

/** Divides what is held of a device by its sum, if that is more than the device, as the ledger does. */
function scale(ofDevice: readonly Line[]): void {
  const held = sumOf(ofDevice, (line) => line.held);
  const [first] = ofDevice;
  if (first !== undefined && held > first.share) for (const line of ofDevice) line.held *= first.share / held;
}

function sumOf<Item>(items: readonly Item[], valueOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + valueOf(item), 0);
}

function isParted({ regimes, consumes }: LivePod): boolean {
  return consumes || regimes.some((regime) => !ALONE.has(regime));
}

/** Spreads a pod's requests over the shared devices on which it is seen. No pod holds more of a device than exists. */
function divide(pod: LivePod, lines: readonly Line[]): void {
  const shared = lines.filter(({ of }) => of === "process");
  if (shared.length === 0) return;
  const alone = lines.reduce((sum, { of, held }) => (of === "process" ? sum : sum + held), 0);
  const each = Math.max(0, approximate(pod.gpus) - alone) / shared.length;
  for (const line of shared) line.held = Math.min(line.share, each);
}

function ownerLabels(owner: LiveOwner, pod: string): readonly string[] {
  return [owner.namespace, pod, ...wordsOf(owner)];
}

function wordsOf({ workload, type, team, costCenter, queue }: LiveOwner): readonly string[] {
  return [workload, type, team, costCenter, queue];
}

function modelIndex(models: (string | undefined)[], model: string | undefined): number {
  const known = models.indexOf(model);
  return known < 0 ? models.push(model) - 1 : known;
}

/**
 * Creates a buffer of label texts, one after the other, as bytes: separate strings of 300 characters would take half as much memory again.
 */
function createLabels() {
  const texts: string[] = [];
  let end = 0;
  return {
    add(text: string): { readonly start: number; readonly end: number } {
      const start = end;
      end += Buffer.byteLength(text);
      texts.push(text);
      return { start, end };
    },
    bytes(): Buffer {
      const bytes = Buffer.allocUnsafeSlow(end);
      bytes.write(texts.join(""));
      return bytes;
    },
  };
}
