import type { Scenario } from "../files.ts";
import { gpuIndexes } from "./machine.ts";
import { devicesOfPod } from "./occupants.ts";
import { lifeOf, tenureOf, type ScenarioNode } from "./tenure.ts";

/** The power and the energy counters of a node's GPUs over time. */
export interface Power {
  /** Returns true if the node or a pod on the GPU has a power draw. Other GPUs have neither power nor a counter. */
  isMeasured(gpu: number): boolean;
  /** Returns the power draw of a GPU at a time: its own draw and that of all pods that are known to be on it. */
  watts(gpu: number, millis: number): number;
  /**
   * Returns the joules since the driver was loaded: when the node joined, or when its last XID ended, because only a reload removes an XID. The times
   * of calls must be ascending for each GPU.
   */
  joules(gpu: number, millis: number): number;
}

/** The power draw of one GPU, by itself or for a pod, from one time until another. */
interface Draw {
  readonly watts: number;
  readonly from: number;
  readonly until: number;
}

/** Returns the draws of a pod. Each of its GPUs has the pod's draw. */
export function createPower(scenario: Scenario, node: ScenarioNode): Power {
  const gpus = gpuIndexes(node).map((index) => {
    const draws = drawsOn(scenario, node, index);
    const resets = resetsOf(node, index);
    return {
      isMeasured: draws.length > 0,
      coming: draws,
      next: 0,
      here: [] as Draw[],
      passed: 0,
      since: -Infinity,
      resets,
    };
  });

  /** Applies the starts and ends up to a time. */
  function advance(gpu: (typeof gpus)[number], millis: number): void {
    while ((gpu.resets[0] ?? Infinity) <= millis) {
      gpu.since = gpu.resets.shift()!;
      gpu.passed = 0;
    }
    for (; gpu.next < gpu.coming.length && gpu.coming[gpu.next]!.from <= millis; gpu.next++)
      gpu.here.push(gpu.coming[gpu.next]!);
    gpu.passed += sumOf(
      gpu.here.filter(({ until }) => until <= millis).map((draw) => joulesOf(draw, gpu.since, millis)),
    );
    gpu.here = gpu.here.filter(({ until }) => millis < until);
  }

  return {
    isMeasured: (gpu) => gpus[gpu]!.isMeasured,
    watts(index, millis) {
      const gpu = gpus[index]!;
      advance(gpu, millis);
      return sumOf(gpu.here.map(({ watts }) => watts));
    },
    joules(index, millis) {
      const gpu = gpus[index]!;
      advance(gpu, millis);
      return gpu.passed + sumOf(gpu.here.map((draw) => joulesOf(draw, gpu.since, millis)));
    },
  };
}

function drawsOn(scenario: Scenario, node: ScenarioNode, index: number): readonly Draw[] {
  const own = node.idleWatts === undefined ? [] : [{ watts: node.idleWatts, ...lifeOf(node, scenario) }];
  const ofPods = scenario.pods
    .filter((pod) => pod.node === node.name && devicesOfPod(scenario, pod).some(({ gpu }) => gpu === index))
    .flatMap((pod) => {
      const tenure = tenureOf(pod, scenario);
      return pod.powerWatts === undefined || tenure === undefined ? [] : [{ watts: pod.powerWatts, ...tenure }];
    });
  return [...own, ...ofPods].toSorted((a, b) => a.from - b.from);
}

function resetsOf({ unavailable }: ScenarioNode, index: number): number[] {
  return unavailable
    .filter(({ gpus, because }) => because.startsWith("xid-") && (gpus ?? [index]).includes(index))
    .flatMap(({ until }) => until ?? [])
    .toSorted((a, b) => a - b);
}

function joulesOf({ watts, from, until }: Draw, since: number, millis: number): number {
  return (watts * Math.max(0, Math.min(until, millis) - Math.max(from, since))) / 1000;
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
