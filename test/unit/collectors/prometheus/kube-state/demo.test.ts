import { IMPORTED_MARK } from "../../../../../domain/workload.ts";
import { describe, expect, it } from "vitest";
import { ownerKinds } from "../../../../../collectors/kubernetes/owners/kinds.ts";
import { createKnownObjects } from "../../../../../collectors/kubernetes/owners/known-objects.ts";
import { createFactRegistries } from "../../../../../collectors/kubernetes/watcher/fact-registries.ts";
import { createProjector } from "../../../../../collectors/kubernetes/watcher/projector.ts";
import { createKubeStateImport, type ImportedMessage } from "../../../../../collectors/prometheus/kube-state/import.ts";

import type { ClusterFact } from "../../../../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../../../../domain/inventory.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../../../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../../../../domain/workload.ts";
import { createFleet } from "../../../../../demo/fleet/fleet.ts";
import { objectsAt } from "../../../../../demo/kubernetes/cluster/objects.ts";
import { kubeStatePage } from "../../../../support/kube-state-metrics.ts";
import { createStateScrapes } from "../../../../support/state-scrapes.ts";

const STEP = 10 * 60_000;
const FROM = Date.UTC(2026, 6, 8, 12);
const UNTIL = FROM + 20 * STEP;
const ALL = ["*"];
const CLUSTER_RESOURCES: Readonly<Record<string, string>> = {
  Namespace: "namespaces",
  ResourceQuota: "resourcequotas",
  LimitRange: "limitranges",
};
const RESOURCES: Readonly<Record<string, string>> = { Pod: "pods", Node: "nodes", ...CLUSTER_RESOURCES };
const fleet = createFleet({ seed: 1, gpus: 96 });
const projection = {
  pods: { kinds: ownerKinds(), labels: ["team", "app"], annotations: [] },
  nodes: { labels: ["node.kubernetes.io/instance-type"] },
};
const kinds = ["pods", "nodes", "namespaces", "jobs", "deployments", "replicasets"];
const options = {
  labelsAllowlist: Object.fromEntries(kinds.map((kind) => [kind, ALL])),
  annotationsAllowlist: { pods: ALL },
  hasNodeSelectors: true,
};

/** The cluster at every scrape. */
const moments = Array.from({ length: (UNTIL - FROM) / STEP + 1 }, (_, index) => {
  const at = FROM + index * STEP;
  return { at, objects: objectsAt(fleet, at) };
});

/** Returns the newest fact of each object, by its key. */
function newestOf<Fact>(messages: readonly ImportedMessage[], topic: string): ReadonlyMap<string, Fact> {
  const own = messages.filter((message) => message.topic === topic);
  return new Map(own.map(({ key, value }) => [key, JSON.parse(Buffer.from(value!).toString()) as Fact]));
}

const scrapes = createStateScrapes(STEP);
for (const { at, objects } of moments) scrapes.scrape(at, kubeStatePage(objects, options));
const series = scrapes.series();

async function importedFacts(): Promise<readonly ImportedMessage[]> {
  const imported = createKubeStateImport({
    cluster: "demo",
    fromMillis: FROM,
    untilMillis: UNTIL,
    seen: scrapes.seen(),
    stepMillis: STEP,
    projection,
    knownLabels: ["team", "app", "cost-centre"],
  });
  imported.takeOwners(series);
  const messages: ImportedMessage[] = [];
  for (const facts of [imported.nodes(series), imported.namespaces(series), imported.pods(series)])
    for await (const ofObject of facts) messages.push(...ofObject);
  return messages;
}

/** Returns the facts of a watcher that lists the objects at every scrape. */
async function watchedFacts(): Promise<readonly ImportedMessage[]> {
  const messages: ImportedMessage[] = [];
  const owners = createKnownObjects();
  const projector = createProjector({
    registries: createFactRegistries("demo", { epoch: () => 2, renew: () => {} }, (topic, { key, value }) =>
      messages.push({ topic, key, value, schemaVersion: 1 }),
    ),
    owners: { lookup: owners.lookup, isUnknown: () => false, fetch: () => Promise.resolve() },
    projection,
    onRemarks: () => {},
    signal: new AbortController().signal,
  });
  let before = new Map<string, string>();
  for (const { at, objects } of moments) {
    const sight = { resourceVersion: String(at), atMillis: at };
    const now = new Map<string, string>();
    for (const object of objects) owners.take(object);
    for (const object of objects) {
      const resource = RESOURCES[object.kind];
      if (resource === undefined) continue;
      now.set(object.metadata.uid, resource);
      await projector.take(resource, object, sight);
    }
    for (const [uid, resource] of before)
      if (!now.has(uid)) projector.gone(resource, uid, { atMillis: at - STEP, inferred: true }, sight);
    before = now;
  }
  return messages;
}

const [imported, watched] = await Promise.all([importedFacts(), watchedFacts()]);

describe("the facts of the demo's cluster from kube-state-metrics", () => {
  it("are those of the watcher for each pod, except for what is not exported", () => {
    const [ours, theirs] = [imported, watched].map((each) => newestOf<WorkloadFact>(each, WORKLOADS_TOPIC));
    expect(theirs!.size).toBeGreaterThan(80);
    const phases = new Set(
      [...theirs!.values()].map(({ phase, end }) => `${phase}${end === undefined ? "" : ", gone"}`),
    );
    expect([...phases]).toEqual(expect.arrayContaining(["Pending", "Running", "Running, gone", "Succeeded, gone"]));
    expect([...ours!.keys()].toSorted()).toEqual([...theirs!.keys()].toSorted());
    for (const [key, fact] of theirs!) expect([key, comparable(ours!.get(key)!)]).toEqual([key, comparable(fact)]);
  });

  it("are those of the watcher for each node, except for what is not exported", () => {
    const [ours, theirs] = [imported, watched].map((each) => newestOf<InventoryFact>(each, INVENTORY_TOPIC));
    expect(theirs!.size).toBeGreaterThan(10);
    expect([...ours!.keys()].toSorted()).toEqual([...theirs!.keys()].toSorted());
    for (const [key, fact] of theirs!)
      expect([key, comparableNode(ours!.get(key)!)]).toEqual([key, comparableNode(fact)]);
  });

  it("are those of the watcher for each namespace, quota and limit range, and end with the import", () => {
    const [ours, theirs] = [imported, watched].map((each) =>
      [...newestOf<ClusterFact>(each, CLUSTER_TOPIC).values()].map(comparableObject).toSorted(),
    );
    expect(theirs!.length).toBeGreaterThan(15);
    expect(ours).toEqual(theirs);
    const ends = [...newestOf<ClusterFact>(imported, CLUSTER_TOPIC).values()].map(({ end }) => end);
    expect(new Set(ends.map((end) => JSON.stringify(end)))).toEqual(
      new Set([JSON.stringify({ atMillis: UNTIL, inferred: true })]),
    );
  });

  it("are identical if the import is repeated", async () => {
    const texts = (messages: readonly ImportedMessage[]): readonly string[] =>
      messages.map(({ topic, key, value }) => `${topic} ${key} ${Buffer.from(value!).toString()}`);
    expect(texts(await importedFacts())).toEqual(texts(imported));
  });
});

/** Returns a pod's fact without the fields that cannot be equal. */
function comparable(fact: WorkloadFact): object {
  const {
    // They have the import's own order.
    epoch: _epoch,
    resourceVersion: _version,
    seenAtMillis: _seen,
    // The arguments and variables of containers are not exported.
    checkpoints: _checkpoints,
    // The images of a pod are exported as soon as it is bound.
    unpinnedImages = [],
    // The owners of StatefulSets and of the kinds of operators are not exported.
    ownersTruncated: _truncated,
    owners,
    workload,
    pending,
    annotations: { [IMPORTED_MARK]: _mark, ...annotations },
    marks,
    ...rest
  } = fact;
  const isNotebook = owners[0]?.kind === "StatefulSet";
  const haveSeries = owners.every(({ kind }) => ["ReplicaSet", "Deployment", "Job"].includes(kind));
  return {
    ...rest,
    unpinnedImages,
    annotations,
    marks: { labels: marks!.pod.labels, owners: haveSeries ? marks!.owners.labels : {} },
    workload: isNotebook ? workload.name : workload,
    // Neither are the UIDs of owners, nor the versions of operators' kinds.
    owners: owners.slice(0, isNotebook ? 1 : undefined).map(({ kind, name }) => ({ kind, name })),
    // The scheduler's message is not exported.
    pending: pending?.reason,
  };
}

/** Returns a node's fact without the fields that cannot be equal. */
function comparableNode(fact: InventoryFact): object {
  const {
    epoch: _epoch,
    resourceVersion: _version,
    seenAtMillis: _seen,
    // The UID of a Node is not exported.
    uid: _uid,
    // The end of the import, which a watcher does not have.
    knownUntil: _knownUntil,
    // The import ignores the pods of exporters and pods without GPUs.
    exporterVersion: _exporter,
    others: _others,
    conditions,
    ...rest
  } = fact;
  // The reasons of conditions and the times of their changes are not exported.
  return { ...rest, conditions: conditions.map(({ type, status }) => ({ type, status })) };
}

/** Returns a fact of another object without its UID and order, and without labels that are not known. */
function comparableObject({ kind, resource, namespace, name, body }: ClusterFact): string {
  const known = "labels" in body ? Object.entries(body.labels).filter(([label]) => !label.includes("/")) : [body];
  return JSON.stringify([kind, resource, namespace, name, known]);
}
