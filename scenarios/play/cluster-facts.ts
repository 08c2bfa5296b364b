import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { FactOrigin } from "../../domain/fact.ts";
import type { Scenario } from "../schema.ts";
import { uuidOf } from "./identity.ts";
import { beginOf, clusterOf, clustersOf, createdAt, tenureOf, type ScenarioPod } from "./tenure.ts";

type WithoutOrigin<Fact> = Fact extends ClusterFact ? Omit<Fact, keyof FactOrigin> : never;

/** What is said of a namespace, gang, claim or slice from a time on. */
export interface ClusterMoment {
  readonly atMillis: number;
  readonly cluster: string;
  readonly fact: WithoutOrigin<ClusterFact>;
}

/** The namespaces of a scenario in each cluster, those that only a pod names too: from the beginning, and at each change of labels. */
export function namespaceMoments(scenario: Scenario): readonly ClusterMoment[] {
  const begin = beginOf(scenario);
  const names = new Set([
    ...Object.keys(scenario.namespaces),
    ...scenario.pods.filter(({ hpcJob }) => hpcJob === undefined).map(({ namespace }) => namespace),
  ]);
  return clustersOf(scenario).flatMap((cluster) =>
    [...names].flatMap((name) =>
      datedLabels(scenario.namespaces[name], begin).map(({ atMillis, labels }): ClusterMoment => ({
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

type Labels = Readonly<Record<string, string>>;

/** The labels of a namespace with the times from which they hold; it is there from the beginning, without labels if need be. */
function datedLabels(
  states: Scenario["namespaces"][string] | undefined,
  begin: number,
): readonly { readonly atMillis: number; readonly labels: Labels }[] {
  const dated = states === undefined ? [] : Array.isArray(states) ? states : [states];
  const byTime = new Map<number, Labels>([[begin, {}]]);
  for (const { from, labels } of dated) byTime.set(Math.max(begin, from ?? begin), labels);
  return [...byTime].map(([atMillis, labels]) => ({ atMillis, labels })).toSorted((a, b) => a.atMillis - b.atMillis);
}

/** The pods of each gang: of one group in one namespace. */
export function gangsOf(scenario: Scenario): readonly (readonly ScenarioPod[])[] {
  const gangs = new Map<string, ScenarioPod[]>();
  for (const pod of scenario.pods) {
    if (pod.gang === undefined) continue;
    const key = JSON.stringify([clusterOf(pod, scenario), pod.namespace, pod.gang.group]);
    gangs.set(key, [...(gangs.get(key) ?? []), pod]);
  }
  return [...gangs.values()];
}

/** The PodGroups behind a scenario's gangs: pending from the first pod's creation, running once all were bound at the same time. */
export function gangMoments(scenario: Scenario): readonly ClusterMoment[] {
  return gangsOf(scenario).flatMap((members) => {
    const [{ namespace, gang, queue }] = members as [ScenarioPod];
    const cluster = clusterOf(members[0]!, scenario);
    const { group: name, size } = gang!;
    const queued = Math.min(...members.map((pod) => createdAt(pod, scenario)));
    const admitted = wholeAt(members, size, scenario);
    const said = {
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
      fact: { ...said, body: { ...body, phase: "Pending" } },
    };
    if (admitted === undefined) return [pending];
    return [pending, { atMillis: admitted, cluster, fact: { ...said, body: { ...body, phase: "Running", admitted } } }];
  });
}

/** When so many members were bound at the same time first; undefined where they never were. */
function wholeAt(members: readonly ScenarioPod[], size: number, scenario: Scenario): number | undefined {
  const tenures = members.flatMap((pod) => tenureOf(pod, scenario) ?? []);
  return tenures
    .map(({ from }) => from)
    .toSorted((a, b) => a - b)
    .find((at) => tenures.filter(({ from, until }) => from <= at && at < until).length >= size);
}
