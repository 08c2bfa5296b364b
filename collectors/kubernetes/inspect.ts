import type { ClusterFact } from "../../domain/cluster-fact.ts";
import { regimesOf, type Regime } from "../../domain/regime.ts";
import { ownerKinds } from "./owners/kinds.ts";
import { createKnownObjects } from "./owners/known-objects.ts";
import { workloadType } from "./owners/type.ts";
import { readManifest } from "./manifest.ts";
import { projectClusterObject, type ClusterProjection } from "./projection/cluster-fact.ts";
import { nameOfObject, type KubeObject } from "./projection/kube-object.ts";
import { projectNode, type NodeProjection } from "./projection/node.ts";
import type { NodeObject } from "./projection/node-object.ts";
import type { PodObject } from "./projection/pod-object.ts";
import { projectPod, unmeteredOf, type GangFacts, type PodProjection } from "./projection/pod.ts";
import { text, texts } from "./projection/wire.ts";

/** The ledger's view of one object. */
export type InspectedObject =
  | ({
      readonly what: "workload";
      readonly regimes: readonly Regime[];
      /** The owner's kind or the label that determined the type; empty if none did. */
      readonly typeBy: string;
      /** The object's labels that are likely to name who pays. */
      readonly teamLabels: Readonly<Record<string, string>>;
    } & PodProjection)
  | ({ readonly what: "node" } & NodeProjection)
  | ({ readonly what: "cluster" } & ClusterProjection);

/** The ledger's view of the objects in a text, and the parts that it ignores, with the reasons. */
export interface ObjectInspection {
  readonly objects: readonly InspectedObject[];
  readonly ignored: readonly { readonly what: string; readonly why: string }[];
}

/** Label keys, or their ends after a slash, that users choose for who pays and for experiments. */
const TEAM_LABEL =
  /(^|[/._-])(team|project|cost-?cent(er|re)|department|owner|user|experiment|run-id|mlflow\.run-id)$/i;

/**
 * Reads YAML or JSON as the collector would, without a cluster. Owners, claims and gangs are known if they are in the same text. Never
 * throws.
 */
export function inspectObjects(source: string): ObjectInspection {
  const manifest = readManifest(source);
  const ignored = [...manifest.ignored];
  const kinds = ownerKinds();
  const cluster = manifest.objects.map((object) => ({ object, projection: projectClusterObject(object) }));
  const owners = createKnownObjects();
  for (const object of manifest.objects) owners.take(object);
  const options = {
    kinds,
    lookup: owners.lookup,
    labels: ["*"],
    gangFacts: gangsIn(cluster.flatMap(({ projection }) => projection?.fact ?? [])),
  };
  const slicesOf = (node: string) =>
    cluster.flatMap(({ projection }) => {
      const { fact } = projection ?? {};
      return fact?.kind === "ResourceSlice" && fact.body.node === node ? fact.body.devices : [];
    });
  const objects = cluster.flatMap(({ object, projection }): InspectedObject[] => {
    const what = nameOfObject(object);
    if (object.kind === "Pod" && object.apiVersion === "v1") {
      const pod = projectPod(object as PodObject, options);
      if (pod !== undefined) return [inspectedPod(pod, object)];
      const [unmetered] = unmeteredOf(object as PodObject, undefined);
      ignored.push({ what, why: unmetered?.text ?? "the pod requests no GPU in any regime" });
    } else if (object.kind === "Node" && object.apiVersion === "v1") {
      const node = projectNode(object as NodeObject, { slices: slicesOf(text(object.metadata?.name) ?? "") });
      if (node !== undefined) return [{ what: "node", ...node }];
      ignored.push({ what, why: "the node has no GPU in any regime" });
    } else if (projection !== undefined) return [{ what: "cluster", ...projection }];
    else if (kinds.find({ apiVersion: text(object.apiVersion) ?? "", kind: text(object.kind) ?? "" }) !== undefined) {
      ignored.push({ what, why: "the object holds no GPU itself: it is read if a pod's chain of owners leads to it" });
    } else if (object.kind === "ResourceSlice") ignored.push({ what, why: "the slice has no GPUs" });
    else
      ignored.push({
        what,
        why: `the ledger does not read ${object.kind} of ${text(object.apiVersion) ?? "no version"}`,
      });
    return [];
  });
  return { objects, ignored };

  function inspectedPod(pod: PodProjection, { metadata }: KubeObject): InspectedObject {
    const { fact, remarks } = pod;
    const labels = texts(metadata?.labels);
    const ofPeople = (map: Readonly<Record<string, string>>): Record<string, string> =>
      Object.fromEntries(Object.entries(map).filter(([name]) => TEAM_LABEL.test(name)));
    const teamLabels = { ...ofPeople(texts(metadata?.annotations)), ...ofPeople(fact.labels) };
    const overrides = [labels, texts(metadata?.annotations), fact.labels];
    const { by } = workloadType({ owners: fact.owners, labels, overrides }, kinds);
    const shown = { ...fact, labels };
    return { what: "workload", regimes: regimesOf(fact.asks), typeBy: by, teamLabels, fact: shown, remarks };
  }
}

type Fact = ClusterProjection["fact"];

function gangsIn(
  facts: readonly Fact[],
): (gang: { kind: string; name: string }, namespace: string) => GangFacts | undefined {
  const gangs = new Map<string, Extract<ClusterFact, { kind: "Gang" }>["body"]>();
  for (const fact of facts) {
    if (fact.kind === "Gang") gangs.set(`${fact.body.made}/${fact.namespace}/${fact.name}`, fact.body);
  }
  return ({ kind, name }, namespace) => gangs.get(`${kind}/${namespace}/${name}`);
}
