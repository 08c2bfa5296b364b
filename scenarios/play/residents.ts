import type { Scenario } from "../files.ts";
import { devicesOfPod, replicasOn } from "./occupants.ts";
import { tenureOf, type ScenarioNode, type ScenarioPod } from "./tenure.ts";

/** The holders on a node over time. */
export interface Residents {
  /** Returns the pods that hold at a time, in the order of their binding. The times of calls must be ascending. */
  at(millis: number): readonly ScenarioPod[];
  /** Returns the replicas of one GPU that a pod has, with the kubelet's numbers: the lowest that were free when the pod was bound, until its end. */
  replicas(pod: ScenarioPod, gpu: number): readonly number[];
}

/** The pods of a node, sorted once. A month of short pods is walked through and not searched. */
export function createResidents(scenario: Scenario, node: ScenarioNode): Residents {
  const coming = scenario.pods
    .filter((pod) => pod.node === node.name)
    .flatMap((pod) => {
      const tenure = tenureOf(pod, scenario);
      return tenure === undefined ? [] : [{ pod, ...tenure }];
    })
    .toSorted((a, b) => a.from - b.from);
  const replicas = new Map<ScenarioPod, ReadonlyMap<number, readonly number[]>>();
  let next = 0;
  let here: readonly { readonly pod: ScenarioPod; readonly until: number }[] = [];

  /** Gives a bound pod its replicas of each of its GPUs. */
  function settle(pod: ScenarioPod): void {
    if (!("replicas" in pod.holds)) return;
    const devices = devicesOfPod(scenario, pod);
    const count = replicasOn(pod.holds.replicas, devices.length);
    const own = devices.map(({ gpu }): readonly [number, readonly number[]] => {
      const taken = new Set([...replicas.values()].flatMap((of) => of.get(gpu) ?? []));
      const free = Array.from({ length: taken.size + count }, (_, number) => number).filter(
        (number) => !taken.has(number),
      );
      return [gpu, free.slice(0, count)];
    });
    replicas.set(pod, new Map(own));
  }

  return {
    at(millis) {
      const staying = here.filter(({ until }) => millis < until);
      if (staying.length < here.length) {
        for (const { pod, until } of here) if (until <= millis) replicas.delete(pod);
        here = staying;
      }
      for (; next < coming.length && coming[next]!.from <= millis; next++) {
        const { pod, until } = coming[next]!;
        if (until <= millis) continue;
        settle(pod);
        here = [...here, { pod, until }];
      }
      return here.map(({ pod }) => pod);
    },
    replicas: (pod, gpu) => replicas.get(pod)?.get(gpu) ?? [],
  };
}
