import { execFile } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Seconds since the epoch: 7 days, whole blocks of Prometheus and a part of one. */
export const UNTIL = Date.UTC(2026, 2, 30, 6) / 1000;
export const FROM = UNTIL - 7 * 86_400;
export const HOUR = 3_600;
/** The interval of scrapes and of the quick rules, in seconds. */
export const QUICK = 30;
/** The longest blocks of a Prometheus with a retention of a week: 2 hours times 3, times 3 again. */
export const BLOCK_HOURS = 18;

const GPUS_OF_NODE = 8;
const CLUSTERS = 4;
/** As many teams as namespaces. */
const TEAMS = 200;
const MODELS = ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA L40S"];
/** The nodes of a training run over the whole week, and those of any other job. */
const LARGEST_JOB_NODES = 64;
const JOB_NODES = 2;

/** A subject of series. */
export interface Subject {
  /** The seconds of its series. By default the whole week. */
  readonly from?: number;
  readonly until?: number;
  /** True if panels read its series over days: it is selected, or they read the series of all subjects. */
  readonly isShown: boolean;
}

/** A node of the fleet. */
export interface WeekNode extends Subject {
  readonly cluster: string;
  readonly node: string;
  /** The address at which Prometheus scrapes its exporter. */
  readonly instance: string;
  readonly modelName: string;
  readonly nodeNumber: number;
}

/** A GPU of the fleet. It is shown if its node is selected. */
export interface WeekGpu extends WeekNode {
  readonly gpu: number;
  readonly UUID: string;
  /** Its number among all GPUs. */
  readonly number: number;
}

/** The holder of a GPU, from one second until another. Every GPU has its own pod, and the namespace of a team has its name. */
export interface WeekPod extends WeekGpu {
  readonly namespace: string;
  readonly workload: string;
  readonly pod: string;
  readonly from: number;
  readonly until: number;
}

/** A week of GPUs in four clusters. */
export interface WeekFleet {
  readonly nodes: readonly WeekNode[];
  readonly gpus: readonly WeekGpu[];
  readonly pods: readonly WeekPod[];
  /** The selected values of variables with one value: the largest job, and a node with changing pods. */
  readonly shown: Readonly<Record<string, string>>;
}

/**
 * The fleet: a job of 512 GPUs holds 64 nodes for the whole week. All other nodes have jobs of 16 GPUs one after the other, each of 2 to
 * 24 hours.
 */
export function createWeekFleet(count: number): WeekFleet {
  const nodes = Array.from({ length: count }, (_, number) => nodeOf(number, count));
  const last = nodes.at(-1)!;
  const gpus = nodes.flatMap((node) => Array.from({ length: GPUS_OF_NODE }, (_, gpu) => gpuOf(node, gpu, last)));
  const pods: WeekPod[] = [];
  let slot = 0;
  for (let cluster = 0; cluster < CLUSTERS; cluster++) {
    let members = nodes.filter(({ nodeNumber }) => nodeNumber % CLUSTERS === cluster);
    while (members.length > 0) {
      // The cluster of the largest job is that of the last node, which is selected too.
      const isLargest = members[0]!.nodeNumber < CLUSTERS && members[0]!.cluster === last.cluster;
      const size = isLargest ? LARGEST_JOB_NODES : JOB_NODES;
      const held = new Set(members.slice(0, size).map(({ node }) => node));
      pods.push(
        ...podsOf(
          gpus.filter(({ node }) => held.has(node)),
          slot,
          isLargest,
        ),
      );
      members = members.slice(size);
      slot += 1;
    }
  }
  const { namespace, workload } = pods.find(({ from, until }) => from === FROM && until === UNTIL)!;
  const { cluster, modelName, node, instance } = last;
  const job = { namespace, workload, team: namespace };
  return {
    nodes,
    gpus,
    pods,
    shown: { cluster, model: modelName, ...job, node, gpu: gpus.at(-1)!.UUID, exporter: instance },
  };
}

function nodeOf(nodeNumber: number, count: number): WeekNode {
  const cluster = nodeNumber % CLUSTERS;
  return {
    cluster: `prod-${cluster}`,
    node: `gpu-node-${String(nodeNumber).padStart(4, "0")}`,
    instance: `10.${20 + cluster}.${nodeNumber >> 8}.${nodeNumber & 255}:9400`,
    modelName: MODELS[Math.floor((nodeNumber / count) * MODELS.length)]!,
    nodeNumber,
    isShown: false,
  };
}

function gpuOf(of: WeekNode, gpu: number, selected: WeekNode): WeekGpu {
  const { nodeNumber } = of;
  const UUID = `GPU-${hash(nodeNumber, gpu).toString(16).padStart(8, "0")}-1111-4222-8333-${String(nodeNumber).padStart(8, "0")}000${gpu}`;
  return { ...of, gpu, UUID, number: nodeNumber * GPUS_OF_NODE + gpu, isShown: of === selected };
}

function podsOf(gpus: readonly WeekGpu[], slot: number, isLargest: boolean): readonly WeekPod[] {
  const namespace = `team-${slot % TEAMS}`;
  const pods: WeekPod[] = [];
  let from = isLargest ? FROM : FROM - (hash(slot, -1) % 24) * HOUR;
  for (let turn = 0; from < UNTIL; turn += 1) {
    const until = isLargest ? UNTIL : from + (2 + (hash(slot, turn) % 23)) * HOUR;
    const workload = `train-${slot}-${turn}`;
    const job = { namespace, workload, from, until };
    if (until > FROM) pods.push(...gpus.map((gpu, member) => ({ ...gpu, ...job, pod: `${workload}-${member}` })));
    from = until;
  }
  return pods;
}

/** Returns a pseudo-random number that is the same in each run. */
export function hash(one: number, other: number): number {
  const mixed = Math.imul((one + 1) ^ (Math.imul(other + 2, 0x9e3779b1) >>> 7), 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 0;
}

/** Returns values between two bounds that differ from sample to sample and from series to series. */
export const between =
  (least: number, most: number) =>
  (at: number, _: Subject, index: number): number =>
    Math.round((least + ((hash(index, at) % 1000) / 1000) * (most - least)) * 1000) / 1000;

/** Labels by name. */
export type Labels = Readonly<Record<string, string>>;

/** The series of a metric. */
export interface WeekFamily {
  readonly name: string;
  /** The samples of its series between two seconds, in OpenMetrics format. */
  lines(from: number, until: number): Iterable<string>;
}

/**
 * Returns a family with a series for each subject, and a sample every `seconds`. A series that is not shown has one sample per hour and all of
 * the last hour, in which panels read the current value.
 */
export function familyOf<Of extends Subject>(
  name: string,
  seconds: number,
  subjects: readonly Of[],
  labelsOf: (subject: Of) => Labels,
  valueAt: (at: number, subject: Of, index: number) => number,
): WeekFamily {
  return {
    name,
    *lines(from, until) {
      for (const [index, subject] of subjects.entries()) {
        const first = Math.max(from, subject.from ?? from);
        const last = Math.min(until, subject.until ?? until);
        if (first >= last) continue;
        const now = subject.isShown ? first : Math.max(first, UNTIL - HOUR);
        const times = [...multiples(HOUR, first, Math.min(last, now)), ...multiples(seconds, now, last)];
        const labels = Object.entries(labelsOf(subject)).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
        const start = `${name}{${labels.join(",")}} `;
        yield times.map((at) => `${start}${valueAt(at, subject, index)} ${at}\n`).join("");
      }
    },
  };
}

function* multiples(step: number, from: number, until: number): Generator<number> {
  for (let at = Math.ceil(from / step) * step; at < until; at += step) yield at;
}

/** Writes the week into a folder as blocks of Prometheus, each from a file in OpenMetrics format. */
export async function writeWeek(families: readonly WeekFamily[], data: string): Promise<void> {
  const block = BLOCK_HOURS * HOUR;
  const page = `${data}.om`;
  for (let from = Math.floor(FROM / block) * block; from < UNTIL; from += block) {
    const out = createWriteStream(page);
    for (const name of new Set(families.map((family) => family.name))) {
      out.write(`# TYPE ${name} gauge\n`);
      for (const family of families.filter((each) => each.name === name))
        for (const lines of family.lines(Math.max(from, FROM), Math.min(from + block, UNTIL)))
          if (lines !== "" && !out.write(lines)) await once(out, "drain");
    }
    out.end("# EOF\n");
    await once(out, "close");
    const how = ["tsdb", "create-blocks-from", "openmetrics", `--max-block-duration=${BLOCK_HOURS}h`, "--quiet"];
    await run("promtool", [...how, page, data]);
    await rm(page);
  }
}
