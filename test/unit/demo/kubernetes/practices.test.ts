import { beforeAll, describe, expect, it } from "vitest";
import { ownerKinds } from "../../../../collectors/kubernetes/owners/kinds.ts";
import { createKnownObjects } from "../../../../collectors/kubernetes/owners/known-objects.ts";
import { createFactRegistries } from "../../../../collectors/kubernetes/watcher/fact-registries.ts";
import { createProjector } from "../../../../collectors/kubernetes/watcher/projector.ts";
import type { SeenObject } from "../../../../collectors/kubernetes/watcher/seen-object.ts";
import { createFleet } from "../../../../demo/fleet/fleet.ts";
import { objectsAt } from "../../../../demo/kubernetes/cluster/objects.ts";
import type { KubernetesObject } from "../../../../demo/kubernetes/server/object.ts";
import type { ClusterFact } from "../../../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../../../domain/inventory.ts";
import { decodeClusterFact, decodeInventory, decodeWorkload } from "../../../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../../../domain/messages/topics.ts";
import type { Finding } from "../../../../domain/practice/check.ts";
import { findingsOf } from "../../../../domain/practice/checks.ts";
import { gatherPractices } from "../../../../domain/practice/gather.ts";
import type { WorkloadFact } from "../../../../domain/workload.ts";
import { ownerRules } from "../../../support/owner-rules.ts";

const NOON = Date.UTC(2026, 6, 8, 12);
const RESOURCES: Readonly<Record<string, string>> = {
  Node: "nodes",
  Pod: "pods",
  Namespace: "namespaces",
  ResourceQuota: "resourcequotas",
  LimitRange: "limitranges",
  PriorityClass: "priorityclasses.scheduling.k8s.io",
  PodDisruptionBudget: "poddisruptionbudgets.policy",
};

/** Returns the findings of the demo's cluster at noon, without charges. */
async function findings(): Promise<readonly Finding[]> {
  const objects = objectsAt(createFleet({ seed: 1, gpus: 96 }), NOON);
  const pods = new Map<string, WorkloadFact>();
  const nodes = new Map<string, InventoryFact>();
  const cluster = new Map<string, ClusterFact>();
  const send = (topic: string, { value }: { readonly value: Uint8Array | null }): void => {
    if (topic === WORKLOADS_TOPIC) take(pods, decodeWorkload(value!) as WorkloadFact);
    if (topic === INVENTORY_TOPIC) take(nodes, decodeInventory(value!) as InventoryFact);
    if (topic === CLUSTER_TOPIC) take(cluster, decodeClusterFact(value!) as ClusterFact);
  };
  const owners = createKnownObjects();
  for (const object of objects) owners.take(object);
  const projector = createProjector({
    registries: createFactRegistries("demo", { epoch: () => 1, renew: () => {} }, send),
    owners: { lookup: owners.lookup, isUnknown: () => false, fetch: () => Promise.resolve() },
    projection: { pods: { kinds: ownerKinds() }, nodes: {} },
    onRemarks: () => {},
    signal: new AbortController().signal,
  });
  let version = 1;
  const see = async (some: readonly KubernetesObject[]): Promise<void> => {
    for (const object of some) {
      const sight = { resourceVersion: String((version += 1)), atMillis: NOON };
      await projector.take(RESOURCES[object.kind] ?? object.kind, object as unknown as SeenObject, sight);
    }
  };
  const isPod = ({ kind }: KubernetesObject): boolean => kind === "Pod";
  await see(objects.filter(({ kind }) => kind !== "Pod" && kind !== "Event"));
  projector.listed("poddisruptionbudgets.policy", NOON);
  await see(objects.filter(isPod));
  projector.listed("pods", NOON);
  await see(objects.filter(({ kind }) => kind === "Node"));
  const records = { pods: [...pods.values()], nodes: [...nodes.values()], cluster: [...cluster.values()] };
  const without = { limited: [], workloadSpends: [], nodeSpends: [], telemetry: [], grantUses: [] };
  return findingsOf(
    gatherPractices(
      { now: NOON, days: 7, migMeasure: "max", ...records, ...without },
      ownerRules({ team: [{ namespaceLabel: "team" }] }),
    ),
  );
}

function take<Fact extends { readonly uid: string }>(facts: Map<string, Fact>, fact: Fact): void {
  facts.set(fact.uid, fact);
}

describe("the practices that the demo does not follow", () => {
  let found: readonly Finding[];
  const namesOf = (check: string): readonly string[] =>
    found.filter((finding) => finding.check === check).flatMap(({ objects }) => objects.map(({ name }) => name));

  beforeAll(async () => {
    found = await findings();
  });

  it("are the untainted machine of the lab with the pods on it", () => {
    expect(namesOf("gpu-node-without-taint")).toEqual(["gpu-a6000-01"]);
    const [finding] = found.filter(({ check }) => check === "pods-without-gpu-on-gpu-node");
    expect(finding!.objects[0]!.detail).toMatch(/^2 pods with 21 % of the node.*feature-cache-0-gpu-a6000-01/);
  });

  it("are one namespace without a LimitRange, and the namespaces of services without a quota", () => {
    expect(namesOf("namespace-without-limit-range")).toEqual(["robotics-serve"]);
    expect(namesOf("namespace-without-quota").every((name) => name.endsWith("-serve"))).toBe(true);
    expect(namesOf("namespace-without-quota").length).toBeGreaterThan(0);
  });

  it("are two services without a PodDisruptionBudget, if they have several pods", () => {
    const names = namesOf("inference-without-disruption-budget");
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !["planner", "ocr"].includes(name))).toEqual([]);
  });

  it("are old and mixed drivers", () => {
    expect(namesOf("driver-end-of-life")).toContain("gpu-v100-01");
    expect(namesOf("driver-versions-mixed").length).toBeGreaterThan(0);
  });

  it("are few of a kind: most practices are followed", () => {
    expect(namesOf("no-priority-class")).toEqual([]);
    expect(namesOf("tolerates-everything").every((name) => name.startsWith("nccl-burn-in"))).toBe(true);
    expect(namesOf("image-not-pinned").every((name) => /^(eval-suite|planner)/.test(name))).toBe(true);
  });
});
