import { multiply, rational, type Rational } from "../../domain/exact/rational.ts";
import { heldInCommon, type CommonDevice } from "../../domain/share/common.ts";
import { gpuMemoryOf } from "../../domain/share/gpu-memory.ts";
import { vgpuShare } from "../../domain/share/vgpu.ts";
import type { Scenario } from "../files.ts";
import { devicesOf, type NamedDevice } from "./asks.ts";
import { gpuIndexes, layoutAt, troublesAt } from "./machine.ts";
import type { ScenarioNode, ScenarioPod } from "./tenure.ts";

/** A pod on a device of its node: on a GPU, or on an instance or partition of one. */
export interface Occupant {
  readonly pod: ScenarioPod;
  readonly gpu: number;
  /** The instance or partition; empty for the GPU itself. */
  readonly part: string;
  /** The claimed part of the device, as written. The pod's activity is a ratio of this part. */
  readonly claimed: Rational;
  /** True if the device of the pod is unknown. The pod then has a part of each device that it may have. */
  readonly isCommon: boolean;
}

/** Returns the pods on each device of a node at a time: on their known devices, or else in common. */
export function occupantsAt(
  scenario: Scenario,
  node: ScenarioNode,
  pods: readonly ScenarioPod[],
  at: number,
): readonly Occupant[] {
  const known = pods.flatMap((pod) => knownOccupants(scenario, { node, pods, at }, pod));
  const occupied = new Set(known.map(({ pod }) => pod));
  const kinds = new Map<string, ScenarioPod[]>();
  for (const pod of pods) {
    if (occupied.has(pod)) continue;
    const kind = "mig" in pod.holds ? pod.holds.mig : "";
    kinds.set(kind, [...(kinds.get(kind) ?? []), pod]);
  }
  const common = [...kinds].flatMap(([profile, members]) => commonOccupants(node, profile, members, known, at));
  return [...known, ...common];
}

/** Returns the known devices of a pod: those of its claim, or else its own. */
export function devicesOfPod({ claims }: Scenario, pod: ScenarioPod): readonly NamedDevice[] {
  return "dra" in pod.holds ? devicesOf({ devices: claims[pod.holds.dra.claim]!.devices }) : devicesOf(pod);
}

function knownOccupants(
  scenario: Scenario,
  { node, pods, at }: { readonly node: ScenarioNode; readonly pods: readonly ScenarioPod[]; readonly at: number },
  pod: ScenarioPod,
): readonly Occupant[] {
  const devices = devicesOfPod(scenario, pod);
  const claimOf = ({ holds }: ScenarioPod): string | undefined => ("dra" in holds ? holds.dra.claim : undefined);
  const claim = claimOf(pod);
  const sharers = claim === undefined ? 1 : pods.filter((other) => claimOf(other) === claim).length;
  const whole = rational(1, sharers);
  return devices.map(({ gpu, instance }) => {
    const claimed =
      instance === undefined ? (partialClaim(pod, node, { gpu, gpus: devices.length, at }) ?? whole) : whole;
    return { pod, gpu, part: instance ?? "", claimed, isCommon: false };
  });
}

/** Returns the part that a pod claims of each of its GPUs; undefined for a whole GPU. */
function partialClaim(
  { holds }: ScenarioPod,
  node: ScenarioNode,
  on: { readonly gpu: number; readonly gpus: number; readonly at: number },
): Rational | undefined {
  if ("replicas" in holds) return rational(replicasOn(holds.replicas, on.gpus), membersOf(node, on.gpu, on.at));
  return partOfEach({ holds }, node);
}

/** Returns the part that a pod has of each of its GPUs; undefined for a pod with whole GPUs. */
function partOfEach({ holds }: Pick<ScenarioPod, "holds">, node: ScenarioNode): Rational | undefined {
  if ("fraction" in holds) return rational(Math.round(holds.fraction * 1e6), 1_000_000);
  if (!("hami" in holds)) return undefined;
  const { memoryMiB, cores } = holds.hami;
  const amounts = {
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    ...(cores === undefined ? {} : { coresPercent: cores }),
  };
  return vgpuShare(amounts, gpuMemoryOf({ model: node.model })).share;
}

/** Returns the number of replicas that a pod has of each of its GPUs. */
export function replicasOn(replicas: number, gpus: number): number {
  return Math.max(1, Math.floor(replicas / Math.max(1, gpus)));
}

function membersOf(node: ScenarioNode, index: number, at: number): number {
  const layout = layoutAt(node, index, at);
  return layout.kind === "shared" ? layout.replicas : 1;
}

/** Pods of one kind with unknown devices: MIG instances of a profile, or GPUs if the profile is empty. */
function commonOccupants(
  node: ScenarioNode,
  profile: string,
  pods: readonly ScenarioPod[],
  known: readonly Occupant[],
  at: number,
): readonly Occupant[] {
  const devices = gpuIndexes(node).flatMap((index): readonly CommonDevice[] => {
    const layout = layoutAt(node, index, at);
    const isUnavailable = troublesAt(node, index, at).some((because) => because !== "cordoned");
    const takenOf = (part: string): number => known.filter((each) => each.gpu === index && each.part === part).length;
    if (profile === "") {
      if (layout.kind === "mig") return [];
      const members = membersOf(node, index, at);
      return [{ gpu: String(index), members, taken: Math.min(members, takenOf("")), isUnavailable }];
    }
    return (layout.kind === "mig" ? layout.instances : [])
      .filter((instance) => instance.profile === profile)
      .map(({ id }) => ({ gpu: String(index), part: id, members: 1, taken: takenOf(id), isUnavailable }));
  });
  const holders = pods.map((pod, index) => ({ holder: String(index), count: countOf(pod) }));
  return [...heldInCommon(devices, holders).claims].flatMap(([gpu, claims]) =>
    claims.flatMap(({ holder, held }): readonly Occupant[] => {
      if (held.what !== "common") return [];
      const pod = pods[Number(holder)]!;
      const share = multiply(
        rational(held.count, held.setSize),
        rational(held.members, membersOf(node, Number(gpu), at)),
      );
      const claimed = multiply(share, partOfEach(pod, node) ?? rational(1));
      return [{ pod, gpu: Number(gpu), part: held.part ?? "", claimed, isCommon: true }];
    }),
  );
}

function countOf({ holds }: ScenarioPod): number {
  if ("gpus" in holds) return holds.gpus;
  if ("mig" in holds) return holds.count;
  return "replicas" in holds ? holds.replicas : 1;
}
