import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { FactOrigin } from "../../domain/fact.ts";
import type { Scenario } from "../files.ts";
import { uuidOf } from "./identity.ts";
import { beginOf, clusterOf, clustersOf, createdAt, tenureOf, type ScenarioPod } from "./tenure.ts";

type WithoutOrigin<Fact> = Fact extends ClusterFact ? Omit<Fact, keyof FactOrigin> : never;

/** The state of a namespace, gang, claim or slice from a time on. */
export interface ClusterMoment {
  readonly atMillis: number;
  readonly cluster: string;
  readonly fact: WithoutOrigin<ClusterFact>;
}

/**
 * Returns the namespaces of a scenario in each cluster, including those that only a pod names: at the beginning, and at each change of
 * labels.
 */
export function namespaceMoments(scenario: Scenario): readonly ClusterMoment[] {
  const names = new Set([
    ...Object.keys(scenario.namespaces),
    ...scenario.pods.filter(({ hpcJob }) => hpcJob === undefined).map(({ namespace }) => namespace),
  ]);
  return clustersOf(scenario).flatMap((cluster) =>
    [...names].flatMap((name) =>
      datedStates(scenario, name).map(({ atMillis, labels }): ClusterMoment => ({
        atMillis,
        cluster,
        fact: {
          kind: "Namespace",
          resource: "namespaces",
          namespace: "",
          name,
          uid: uuidOf("namespace", cluster, name),
          body: { labels, annotations: {} },
        },
      })),
    ),
  );
}

/** Returns the ResourceQuotas of the quotas of a scenario's namespaces. */
export function quotaMoments(scenario: Scenario): readonly ClusterMoment[] {
  return clustersOf(scenario).flatMap((cluster) =>
    Object.keys(scenario.namespaces).flatMap((namespace) => {
      const states = datedStates(scenario, namespace);
      if (states.every(({ quota }) => quota === undefined)) return [];
      return states.map(({ atMillis, quota }): ClusterMoment => ({
        atMillis,
        cluster,
        fact: {
          kind: "ResourceQuota",
          resource: "resourcequotas",
          namespace,
          name: "gpus",
          uid: uuidOf("quota", cluster, namespace),
          body: { hard: quota === undefined ? {} : { [QUOTA_RESOURCE]: quota }, used: {} },
        },
      }));
    }),
  );
}

const QUOTA_RESOURCE = "nvidia.com/gpu";

interface NamespaceState {
  readonly labels: Readonly<Record<string, string>>;
  readonly quota?: number | undefined;
}

/** Returns the states of a namespace with their times. It exists from the beginning, without labels if it has none. */
function datedStates(scenario: Scenario, name: string): readonly (NamespaceState & { readonly atMillis: number })[] {
  const begin = beginOf(scenario);
  const states = scenario.namespaces[name];
  const dated = states === undefined ? [] : Array.isArray(states) ? states : [states];
  const byTime = new Map<number, NamespaceState>([[begin, { labels: {} }]]);
  for (const { from, ...state } of dated) byTime.set(Math.max(begin, from ?? begin), state);
  return [...byTime].map(([atMillis, state]) => ({ atMillis, ...state })).toSorted((a, b) => a.atMillis - b.atMillis);
}

/** Returns the pods of each gang: of one group in one namespace. */
export function gangsOf(scenario: Scenario): readonly (readonly ScenarioPod[])[] {
  const gangs = new Map<string, ScenarioPod[]>();
  for (const pod of scenario.pods) {
    if (pod.gang === undefined) continue;
    const key = JSON.stringify([clusterOf(pod, scenario), pod.namespace, pod.gang.group]);
    gangs.set(key, [...(gangs.get(key) ?? []), pod]);
  }
  return [...gangs.values()];
}

/** Returns the PodGroups of a scenario's gangs: pending from the first pod's creation, running when all were bound at the same time. */
export function gangMoments(scenario: Scenario): readonly ClusterMoment[] {
  return gangsOf(scenario).flatMap((members) => {
    const [{ namespace, gang, queue }] = members as [ScenarioPod];
    const cluster = clusterOf(members[0]!, scenario);
    const { group: name, size } = gang!;
    const queued = Math.min(...members.map((pod) => createdAt(pod, scenario)));
    const admitted = wholeAt(members, size, scenario);
    const object = {
      kind: "Gang",
      resource: "podgroups.scheduling.run.ai",
      namespace,
      name,
      uid: uuidOf("gang", cluster, namespace, name),
    } as const;
    const body = { made: "PodGroup", size, ...(queue === undefined ? {} : { queue }), queued };
    const pending: ClusterMoment = {
      atMillis: queued,
      cluster,
      fact: { ...object, body: { ...body, phase: "Pending" } },
    };
    if (admitted === undefined) return [pending];
    return [
      pending,
      { atMillis: admitted, cluster, fact: { ...object, body: { ...body, phase: "Running", admitted } } },
    ];
  });
}

/** Returns the first time when `size` members were bound together; undefined if there is none. */
function wholeAt(members: readonly ScenarioPod[], size: number, scenario: Scenario): number | undefined {
  const tenures = members.flatMap((pod) => tenureOf(pod, scenario) ?? []);
  return tenures
    .map(({ from }) => from)
    .toSorted((a, b) => a - b)
    .find((at) => tenures.filter(({ from, until }) => from <= at && at < until).length >= size);
}
