/** Seconds since the epoch: 7 days, whole blocks of Prometheus and a part of one. */
export const UNTIL = Date.UTC(2026, 2, 30, 6) / 1000;
export const FROM = UNTIL - 7 * 86_400;

const NODES = 1_250;
const GPUS_OF_NODE = 8;
const CLUSTERS = 4;
/** As many teams as namespaces. */
const TEAMS = 200;
const MODELS = ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA L40S"];
/** The nodes of a training run over the whole week, and those of any other job. */
const LARGEST_JOB_NODES = 64;
const JOB_NODES = 2;
/** The cluster of the largest job. It is that of the last node, which is selected too. */
const LARGEST_JOB_CLUSTER = (NODES - 1) % CLUSTERS;
const HOUR = 3_600;

/** A node of the fleet. */
export interface WeekNode {
  readonly cluster: string;
  readonly name: string;
  /** The address at which Prometheus scrapes its exporter. */
  readonly instance: string;
  readonly model: string;
  readonly number: number;
}

/** A GPU of the fleet; `number` is its number among all. */
export interface WeekGpu {
  readonly node: WeekNode;
  readonly gpu: number;
  readonly uuid: string;
  readonly number: number;
}

/** The holder of a GPU, from one second until another. Every GPU has its own pod. */
export interface WeekPod {
  readonly gpu: WeekGpu;
  readonly namespace: string;
  readonly team: string;
  readonly workload: string;
  readonly name: string;
  readonly from: number;
  readonly until: number;
}

/** A week of 10,000 GPUs in four clusters. */
export interface WeekFleet {
  readonly nodes: readonly WeekNode[];
  readonly gpus: readonly WeekGpu[];
  readonly pods: readonly WeekPod[];
  /** The selected values of variables with one value: the largest job, and a node with changing pods. */
  readonly shown: {
    readonly cluster: string;
    readonly model: string;
    readonly namespace: string;
    readonly workload: string;
    readonly team: string;
    readonly node: string;
    readonly gpu: string;
    readonly exporter: string;
  };
}

/**
 * The fleet: a job of 512 GPUs holds 64 nodes for the whole week. All other nodes have jobs of 16 GPUs one after the other, each of 2 to
 * 24 hours.
 */
export function createWeekFleet(): WeekFleet {
  const nodes = Array.from({ length: NODES }, (_, number) => nodeOf(number));
  const gpus = nodes.flatMap((node) => Array.from({ length: GPUS_OF_NODE }, (_, gpu) => gpuOf(node, gpu)));
  const slots = Array.from({ length: CLUSTERS }, (_, cluster) => nodes.filter((_node, at) => at % CLUSTERS === cluster))
    .flatMap((members, cluster) => slotsOf(members, cluster === LARGEST_JOB_CLUSTER ? LARGEST_JOB_NODES : JOB_NODES))
    .map((members) => gpus.filter(({ node }) => members.includes(node)));
  const pods = slots.flatMap((members, slot) => podsOf(members, slot));
  const largest = pods.find(({ from, until }) => from === FROM && until === UNTIL)!;
  const last = gpus.at(-1)!;
  const { namespace, workload, team } = largest;
  return {
    nodes,
    gpus,
    pods,
    shown: {
      cluster: last.node.cluster,
      model: last.node.model,
      namespace,
      workload,
      team,
      node: last.node.name,
      gpu: last.uuid,
      exporter: last.node.instance,
    },
  };
}

function nodeOf(number: number): WeekNode {
  return {
    cluster: `prod-${number % CLUSTERS}`,
    name: `gpu-node-${String(number).padStart(4, "0")}`,
    instance: `10.${20 + (number % CLUSTERS)}.${number >> 8}.${number & 255}:9400`,
    model: MODELS[Math.floor((number / NODES) * MODELS.length)]!,
    number,
  };
}

function gpuOf(node: WeekNode, gpu: number): WeekGpu {
  const uuid = `GPU-${hash(node.number, gpu).toString(16).padStart(8, "0")}-1111-4222-8333-${String(node.number).padStart(8, "0")}000${gpu}`;
  return { node, gpu, uuid, number: node.number * GPUS_OF_NODE + gpu };
}

/** Returns the nodes of a cluster by job: the first nodes together, the others in pairs. */
function slotsOf(members: readonly WeekNode[], first: number): readonly (readonly WeekNode[])[] {
  const others = members.slice(first);
  const pairs = Array.from({ length: Math.ceil(others.length / JOB_NODES) }, (_, pair) =>
    others.slice(pair * JOB_NODES, (pair + 1) * JOB_NODES),
  );
  return [members.slice(0, first), ...pairs];
}

function podsOf(gpus: readonly WeekGpu[], slot: number): readonly WeekPod[] {
  const team = `team-${slot % TEAMS}`;
  const pods: WeekPod[] = [];
  const isLargest = gpus.length > JOB_NODES * GPUS_OF_NODE;
  let from = isLargest ? FROM : FROM - (hash(slot, -1) % 24) * HOUR;
  for (let turn = 0; from < UNTIL; turn += 1) {
    const until = isLargest ? UNTIL : from + (2 + (hash(slot, turn) % 23)) * HOUR;
    const workload = `train-${slot}-${turn}`;
    if (until > FROM)
      for (const [member, gpu] of gpus.entries())
        pods.push({ gpu, namespace: team, team, workload, name: `${workload}-${member}`, from, until });
    from = until;
  }
  return pods;
}

/** Returns a pseudo-random number that is the same in each run. */
export function hash(one: number, other: number): number {
  const mixed = Math.imul((one + 1) ^ (Math.imul(other + 2, 0x9e3779b1) >>> 7), 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 0;
}
