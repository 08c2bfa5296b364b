import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readManifest } from "../../../collectors/kubernetes/manifest.ts";
import { resourceNamesOf } from "../../../collectors/kubernetes/projection/gpu-resource.ts";
import type { KubeObject } from "../../../collectors/kubernetes/projection/kube-object.ts";
import type { PodObject } from "../../../collectors/kubernetes/projection/pod-object.ts";
import { createOtherPods } from "../../../collectors/kubernetes/watcher/other-pods.ts";
import { createFleet } from "../../../demo/fleet/fleet.ts";
import { objectsAt } from "../../../demo/kubernetes/cluster/objects.ts";
import { createBusyCluster } from "../../support/kubernetes/busy.ts";
import { createStore } from "../../../demo/kubernetes/server/store.ts";
import { objectFacts } from "../../../scenarios/play/object-facts.ts";
import { trimmed, trimmedNode, trimmedOwner, trimmedPod } from "../../../snapshot/see/trim.ts";
import type { SeenObject } from "../../../snapshot/seen.ts";
import { captures } from "../../support/captures.ts";
import { pod } from "../../support/kube-objects.ts";
import { objectOf } from "../../support/kubernetes/random-object.ts";
import { rounds } from "../../support/rounds.ts";

const NOON = Date.UTC(2026, 6, 8, 12);
const resourceNames = resourceNamesOf({ "example.com/card": "nvidia" });
const OWNERS = new Set(["Job", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "RayCluster", "PyTorchJob"]);

function trim(object: SeenObject): SeenObject {
  if (object.kind === "Pod") return trimmedPod(object, resourceNames);
  if (object.kind === "Node") return trimmedNode(object);
  return OWNERS.has(object.kind ?? "") ? trimmedOwner(object) : trimmed(object);
}

function factsOf(objects: readonly SeenObject[]) {
  const dated = objects.map((object) => ({ atMillis: NOON, object }));
  const { messages, remarks } = objectFacts({ cluster: "test", objects: dated, resourceNames }, 1);
  const others = createOtherPods(() => true);
  for (const object of objects) if (object.kind === "Pod") others.take(object.metadata.uid, object);
  const nodes = objects.map((object) => (object as PodObject).spec?.nodeName ?? "");
  return {
    others: [...new Set(nodes)].map((node) => others.of(node, NOON)),
    messages: messages.map(({ topic, key, value }) => [topic, key, Buffer.from(value).toString("base64")]),
    remarks: remarks.map(({ object, remark }) => [object.kind, object.metadata?.name, remark]),
  };
}

/** Adds the fields of every real object that no fact has. */
function padded(object: KubeObject): SeenObject {
  const { metadata = {}, ...rest } = object as KubeObject & { readonly status?: object };
  const status = { images: [{ names: ["registry.example/a"], sizeBytes: 1 }], ...rest.status };
  const managedFields = [{ manager: "kubelet", fieldsV1: { "f:status": {} } }];
  return { ...rest, status, metadata: { uid: `uid-${metadata?.name}`, ...metadata, managedFields } } as SeenObject;
}

function expectSameFacts(whole: readonly SeenObject[]): void {
  const shorter = whole.map(trim);
  expect(factsOf(shorter)).toEqual(factsOf(whole));
  expect(JSON.stringify(shorter)).not.toContain("managedFields");
}

describe("objects without the fields that no fact has", () => {
  it("have the facts of the whole objects: the demo's cluster", () => {
    const objects = objectsAt(createFleet({ seed: 3, gpus: 200 }), NOON).map(padded);
    const { messages, others } = factsOf(objects);
    expect([messages.length > 200, others.some((each) => each !== undefined)]).toEqual([true, true]);
    expectSameFacts(objects);
  });

  it("have the facts of the whole objects: genuine captures", () => {
    const objects = [...captures("kubernetes")].flatMap(([name, content]) =>
      name.endsWith("fragment.txt") ? [] : readManifest(content.toString("utf8")).objects,
    );
    expectSameFacts(objects.map(padded));
  });

  it.each([
    ["Pod", "V1Pod"],
    ["Node", "V1Node"],
    ["Namespace", "V1Namespace"],
    ["ResourceQuota", "V1ResourceQuota"],
  ])("have the facts of the whole objects: any %s", (kind, type) => {
    const named = (name: string) =>
      objectOf(type).map((object) =>
        padded({ ...object, apiVersion: "v1", kind, metadata: { ...(object["metadata"] as object | null), name } }),
      );
    fc.assert(
      fc.property(named("x"), named("y"), (one, other) => expectSameFacts([one, other])),
      { numRuns: rounds(2_000) },
    );
  });

  it("have the facts of the whole objects: a pod without GPUs as the owner of a pod, and on a node with GPUs", () => {
    const leader = pod({
      metadata: { name: "leader", uid: "leader", labels: { team: "vision", "notebook-name": "n" } },
    });
    const references = [{ apiVersion: "v1", kind: "Pod", name: "leader", uid: "leader", controller: true }];
    const worker = pod({ metadata: { uid: "worker", ownerReferences: references }, limits: { "nvidia.com/gpu": "1" } });
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "node-1", uid: "n" } };
    const status = { capacity: { "nvidia.com/gpu": "8" }, allocatable: { "nvidia.com/gpu": "8", cpu: "8" } };
    expectSameFacts([{ ...node, status }, leader, worker].map(padded));
  });

  it("of a usual pod are at most 60 % of its bytes, and 20 % without a GPU", () => {
    const store = createStore();
    createBusyCluster({ pods: 100, nodes: 10, seed: 1 }).fill(store);
    const { keys, get } = store.snapshot("pods", store.resourceVersion);
    const bytes = { gpu: [0, 0], other: [0, 0] };
    for (const key of keys) {
      const text = `{"apiVersion":"v1","kind":"Pod",${get(key)!.object.json("1").slice(1)}`;
      const sums = text.includes('nvidia.com/gpu":"1"') ? bytes.gpu : bytes.other;
      sums[0]! += text.length;
      sums[1]! += JSON.stringify(trim(JSON.parse(text) as SeenObject)).length;
    }
    expect(bytes.gpu[1]! / bytes.gpu[0]!).toBeLessThan(0.6);
    expect(bytes.other[1]! / bytes.other[0]!).toBeLessThan(0.2);
  });

  it("of a Job have its deadline and its metadata, without kubectl's copy of it", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", note: "x" };
    const job = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "j", namespace: "a", uid: "u", annotations },
      spec: { activeDeadlineSeconds: 60, parallelism: 4 },
    };
    expect(trimmedOwner(job)).toEqual({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "j", namespace: "a", uid: "u", annotations: { note: "x" } },
      spec: { activeDeadlineSeconds: 60 },
    });
  });
});
