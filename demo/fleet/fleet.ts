import { gpusOfInstanceType } from "../../domain/gpu-model/instance-types.ts";
import { blueprintsFor, type Blueprint } from "./blueprint.ts";
import { hash, hashText, pick, roll, suffixOf, uuidOf } from "./hash.ts";
import { EXPORTER_MAKES } from "./makes.ts";
import { COLLECT_MILLIS, type FleetGpu, type FleetNode, type Slot, type TrainingGroup } from "./node.ts";
import { residencyOf } from "./residents.ts";
import { NAMESPACES, type FleetNamespace } from "./teams.ts";

/** The constant properties of a fleet. Everything that changes is a function of a node or slot and the time. */
export interface Fleet {
  readonly seed: number;
  readonly cluster: string;
  readonly gpus: number;
  readonly nodes: readonly FleetNode[];
  readonly namespaces: readonly FleetNamespace[];
}

const ZONES = ["a", "b", "c"];

/** Creates the fleet of a seed, with exactly the given number of GPUs. Equal arguments give equal fleets, names included. */
export function createFleet(options: {
  readonly seed: number;
  readonly gpus: number;
  /** The cluster that all nodes are in. */
  readonly cluster?: string;
}): Fleet {
  const { seed, gpus, cluster = "demo" } = options;
  const plans = blueprintsFor(gpus);
  const named = nameNodes(plans);
  const groups = groupNodes(seed, named);
  const nodes = named.map(({ name, plan }) => createNode({ seed, cluster, name, plan, group: groups.get(name)! }));
  return { seed, cluster, gpus, nodes, namespaces: NAMESPACES };
}

interface Named {
  readonly name: string;
  readonly plan: Blueprint;
}

function nameNodes(plans: readonly Blueprint[]): Named[] {
  const counts = new Map<string, number>();
  return plans.map((plan) => {
    const number = (counts.get(plan.stem) ?? 0) + 1;
    counts.set(plan.stem, number);
    return { name: `gpu-${plan.stem}-${String(number).padStart(2, "0")}`, plan };
  });
}

function groupNodes(seed: number, nodes: readonly Named[]): Map<string, TrainingGroup> {
  const members = new Map<string, Named[]>();
  for (const node of nodes) {
    const group = node.plan.gang === undefined ? node.name : `gang-${node.plan.gang}`;
    members.set(group, [...(members.get(group) ?? []), node]);
  }
  const groups = new Map<string, TrainingGroup>();
  for (const [name, list] of members) {
    const group = {
      key: hashText(seed, `group/${name}`),
      nodes: list.map((each) => each.name),
      gpusOfEach: list.map((each) => each.plan.gpus),
    };
    for (const each of list) groups.set(each.name, group);
  }
  return groups;
}

function createNode(given: {
  readonly seed: number;
  readonly cluster: string;
  readonly name: string;
  readonly plan: Blueprint;
  readonly group: TrainingGroup;
}): FleetNode {
  const { seed, cluster, name, plan, group } = given;
  const key = hashText(seed, `node/${name}`);
  const zone = `eu-west-1${plan.zone ?? pick(ZONES, roll(key, 1))}`;
  const gpus: FleetGpu[] = [];
  const node: FleetNode = {
    name,
    uid: uuidOf(key),
    seed,
    key,
    cluster,
    region: "eu-west-1",
    zone,
    pool: `${plan.stem}-${plan.use}`,
    instanceType: typeOf(plan),
    capacityType: plan.capacityType,
    model: plan.model,
    makeName: plan.make,
    make: EXPORTER_MAKES[plan.make],
    exporterPod: `nvidia-dcgm-exporter-${suffixOf(key, 5)}`,
    sharing: plan.mig !== undefined ? "mig" : plan.timeSlices !== undefined ? "time-slicing" : "exclusive",
    gpus,
    group,
    rank: group.nodes.indexOf(name),
    troubles: new Set(plan.troubles),
    collectPhaseMillis: hash(key, 2) % COLLECT_MILLIS,
  };
  for (let index = 0; index < plan.gpus; index++) gpus.push(createGpu(node, plan, index));
  return node;
}

/** Returns a name for a machine type with another number of GPUs than the public one. */
function typeOf({ model, gpus }: Blueprint): string {
  const { instanceType } = model;
  const type = gpusOfInstanceType(instanceType);
  return type === undefined || type.count === gpus ? instanceType : `${instanceType}-${gpus}gpu`;
}

function createGpu(node: FleetNode, plan: Blueprint, index: number): FleetGpu {
  const key = hash(node.key, index, 3);
  const bus = (0x10 + index * 0x11).toString(16).toUpperCase().padStart(2, "0");
  const mig = plan.mig?.[index % plan.mig.length];
  return {
    index,
    key,
    uuid: node.model.vendor === "amd" ? uuidOf(key) : `GPU-${uuidOf(key)}`,
    serial: `69${String(hash(key, 4)).padStart(10, "0")}`,
    pciBusId: `00000000:${bus}:00.0`,
    hasMig: mig !== undefined,
    slots: slotsOf(node, plan, index, key),
  };
}

function slotsOf(node: FleetNode, plan: Blueprint, gpu: number, key: number): Slot[] {
  const { memoryMib } = node.model;
  const whole = { node, gpu, memoryMib, weight: 1, use: plan.use };
  const instances = plan.mig?.[gpu % plan.mig.length];
  if (instances !== undefined) {
    return instances.map((instance, index) => ({
      ...whole,
      key: hash(key, instance.id, 5),
      instance,
      memoryMib: instance.memoryMib,
      weight: instance.slices / 7,
      // Some small instances of a notebook node serve models, because their owners' habits differ.
      use: plan.use === "notebook" && index % 3 === 2 ? "inference" : plan.use,
    }));
  }
  if (plan.timeSlices !== undefined) {
    const count = plan.timeSlices;
    return Array.from({ length: count }, (_, replica) => ({
      ...whole,
      key: hash(key, replica, 6),
      replica,
      memoryMib: Math.floor(memoryMib / count),
      weight: 1 / count,
      use: replica === 0 ? "inference" : plan.use,
    }));
  }
  const resident = residencyOf(plan, gpu);
  if (resident === undefined) return [{ ...whole, key: hash(key, 0, 7) }];
  if (resident === "free") return [{ ...whole, key: hash(key, 0, 7), use: "spare" }];
  return [{ ...whole, key: hash(key, 0, 7), resident, use: resident.plan.type }];
}
