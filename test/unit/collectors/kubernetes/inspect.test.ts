import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { inspectObjects } from "../../../../collectors/kubernetes/inspect.ts";
import { looksLikeObjects } from "../../../../collectors/kubernetes/manifest.ts";
import { node, pod } from "../../../support/kube-objects.ts";

const CHAIN = `
# A Deployment's pod, its ReplicaSet and a claim, as kubectl prints them.
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: api-5d4f
  namespace: web
  uid: rs-1
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: api, uid: d-1, controller: true}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: web, uid: d-1, labels: {example.com/team: search}}
---
apiVersion: v1
kind: Pod
metadata:
  name: api-5d4f-x2x
  namespace: web
  uid: p-1
  creationTimestamp: 2026-05-01T12:00:00Z
  labels: {project: ranking}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: api-5d4f, uid: rs-1, controller: true}]
spec:
  containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1e3}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: web}
---
kind: [broken
`;

describe("inspecting Kubernetes objects", () => {
  it("joins the objects of one text: the owners of a pod, its type and its team", () => {
    const { objects } = inspectObjects(CHAIN);
    expect(objects).toMatchObject([
      {
        what: "workload",
        regimes: ["whole"],
        typeBy: "Deployment",
        teamLabels: { project: "ranking", "example.com/team": "search" },
        fact: {
          asks: [{ count: 1000 }],
          owners: [{ kind: "ReplicaSet" }, { kind: "Deployment" }],
          ownersTruncated: false,
          workload: { kind: "Deployment", name: "api" },
          type: "inference",
          labels: { project: "ranking" },
        },
      },
    ]);
  });

  it("gives a reason for everything that it ignores", () => {
    const { ignored } = inspectObjects(CHAIN);
    expect(ignored.map(({ what }) => what)).toEqual([
      "document 5",
      "ReplicaSet web/api-5d4f",
      "Deployment web/api",
      "ConfigMap web/settings",
    ]);
    expect(ignored.map(({ why }) => why).slice(1)).toEqual([
      expect.stringContaining("if a pod's chain of owners leads to it"),
      expect.stringContaining("if a pod's chain of owners leads to it"),
      "the ledger does not read ConfigMap of v1",
    ]);
  });

  it("reads a List, an array, single objects and bare labels of JSON in the same way", () => {
    const one = pod({ limits: { "nvidia.com/gpu": 1 } });
    const machine = node({ "nvidia.com/gpu.count": "8" }, { "nvidia.com/gpu": 8 });
    const whats = (value: unknown) => inspectObjects(JSON.stringify(value)).objects.map(({ what }) => what);
    expect(whats({ apiVersion: "v1", kind: "List", items: [one, machine] })).toEqual(["workload", "node"]);
    expect(whats([machine, [one]])).toEqual(["node", "workload"]);
    expect(whats(one)).toEqual(["workload"]);
    expect(whats({ "nvidia.com/gpu.count": "8" })).toEqual(["node"]);
  });

  it.each<readonly [string, string]>([
    ["it is not an object", "7"],
    ["it has no kind", '{"metadata": {}}'],
    ["the pod requests no GPU in any regime", JSON.stringify(pod({}))],
    ["the node has no GPU in any regime", JSON.stringify(node({}, {}))],
  ])("ignores objects that the ledger does not use: %s", (why, source) => {
    expect(inspectObjects(source)).toEqual({ objects: [], ignored: [{ what: expect.any(String) as string, why }] });
  });

  it("refuses aliases that multiply without limit", () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) => `a${i}: &a${i} [${Array.from({ length: 9 }, () => (i === 0 ? "x" : `*a${i - 1}`)).join(",")}]`,
    );
    const { objects, ignored } = inspectObjects(`kind: Pod\n${levels.join("\n")}\n`);
    expect(objects).toEqual([]);
    expect(ignored).toMatchObject([{ what: "document 1", why: expect.stringContaining("alias") as string }]);
  });

  it.each<readonly [string, unknown]>([
    ["metadata", "text"],
    ["metadata", { labels: ["a"], annotations: 7, ownerReferences: [null, "x"] }],
    [
      "spec",
      { containers: [{ resources: "all" }, { resources: { limits: [1] } }], tolerations: "x", resourceClaims: [1] },
    ],
    ["status", { conditions: [{ type: 7, message: 9 }], containerStatuses: [{ state: "up", restartCount: "x" }] }],
  ])("survives garbage in the %s of a pod that holds a GPU", (field, garbage) => {
    const object = { ...pod({ limits: { "nvidia.com/gpu": 1 } }), [field]: garbage };
    expect(() => inspectObjects(JSON.stringify(object))).not.toThrow();
  });
});

describe("the distinction of objects from an exporter's page", () => {
  it.each([
    ["apiVersion: v1\nkind: Pod\n", true],
    ["# a comment\n\n---\nkind: Pod\n", true],
    ['{"apiVersion": "v1"}', true],
    ['{\n  "kind": "List"\n}', true],
    ['[{"kind": "Pod"}]', true],
    ["[]", true],
    ['# HELP DCGM_FI_DEV_GPU_UTIL x\nDCGM_FI_DEV_GPU_UTIL{gpu="0"} 1\n', false],
    ['{"dcgm.gpu.util", gpu="0"} 1\n', false],
    ["kind:of:metric 1\n", false],
    ["<!DOCTYPE html>", false],
    ["", false],
    ["{ apiVersion: v1, kind: Pod, metadata: { name: a } }", true],
    ["{\n  kind: List,\n  items: [] }", true],
    ["- { kind: Pod, metadata: { name: a } }", true],
    ["- apiVersion: v1\n  kind: Pod", true],
    ['{"DCGM_FI_DEV_GPU_UTIL",gpu="0"} 5', false],
    ['{ "DCGM_FI_DEV_GPU_UTIL", gpu="0" } 5', false],
  ])("%j: %s", (page, expected) => {
    expect(looksLikeObjects(page)).toBe(expected);
  });

  it("does not read this project's own Compose-like YAML as Kubernetes objects", () => {
    expect(looksLikeObjects(readFileSync("config/gpu-ledger.example.yaml", "utf8"))).toBe(false);
  });
});
