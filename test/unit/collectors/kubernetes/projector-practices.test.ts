import { describe, expect, it } from "vitest";
import { node, pod } from "../../../support/kube-objects.ts";
import { NOW, projecting } from "../../../support/kubernetes/projecting.ts";

const MINUTE = 60_000;
const BUDGETS = "poddisruptionbudgets.policy";

const budget = (name: string, spec: object) => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name, namespace: "research", uid: `budget-${name}` },
  spec,
});
const gpuPod = (labels: Readonly<Record<string, string>>) =>
  pod({ metadata: { labels }, limits: { "nvidia.com/gpu": 1 } });
const plain = (name: string, cpu: string, metadata = {}, phase = "Running") =>
  pod({
    metadata: { name, uid: name, ...metadata },
    spec: { nodeName: "node-1", containers: [{ resources: { requests: { cpu, memory: "1Gi" } } }] },
    status: { phase },
  });
const gpuNode = (heartbeat: number) =>
  node({ "nvidia.com/gpu.count": "8" }, { "nvidia.com/gpu": "8", memory: "64Gi", heartbeat });

describe("the PodDisruptionBudgets of a pod", () => {
  it("are unknown until the budgets are listed, and then those that select the pod", async () => {
    const { projector, workloads, take } = projecting();
    await take("pods", gpuPod({ app: "chat", tier: "gold" }));
    expect(workloads.at(-1)).not.toHaveProperty("disruptionBudgets");
    projector.listed(BUDGETS, NOW);
    expect(workloads.at(-1)!.disruptionBudgets).toEqual([]);
    await take(BUDGETS, budget("chat", { minAvailable: 1, selector: { matchLabels: { app: "chat" } } }));
    const other = { matchExpressions: [{ key: "tier", operator: "NotIn", values: ["gold"] }] };
    await take(BUDGETS, budget("other", { maxUnavailable: "50%", selector: other }));
    await take(BUDGETS, budget("all", { minAvailable: "10%", selector: {} }));
    await take(BUDGETS, budget("none", { minAvailable: 1 }));
    expect(workloads.at(-1)!.disruptionBudgets).toEqual(["all", "chat"]);
    projector.gone(
      BUDGETS,
      "budget-chat",
      { atMillis: NOW, inferred: false },
      { resourceVersion: "900", atMillis: NOW },
    );
    expect(workloads.at(-1)!.disruptionBudgets).toEqual(["all"]);
  });

  it("are sent again only if they have changed", async () => {
    const { projector, workloads, take } = projecting();
    projector.listed(BUDGETS, NOW);
    await take("pods", gpuPod({ app: "chat" }));
    const sent = workloads.length;
    await take(BUDGETS, budget("other", { minAvailable: 1, selector: { matchLabels: { app: "other" } } }));
    expect(workloads).toHaveLength(sent);
  });
});

describe("the pods without GPUs on a node with GPUs", () => {
  it("are named with the sum of their requests, without those of DaemonSets, of the kubelet and of the past", async () => {
    const { projector, nodes, take } = projecting();
    await take("nodes", gpuNode(1));
    projector.listed("pods", NOW);
    const ownedBy = (kind: string) => ({ ownerReferences: [{ apiVersion: "v1", kind, name: "x", uid: "x" }] });
    await take("pods", plain("web", "12"));
    await take("pods", plain("cache", "30"));
    await take("pods", plain("proxy", "1", ownedBy("DaemonSet")));
    await take("pods", plain("static", "1", ownedBy("Node")));
    await take("pods", plain("done", "1", {}, "Succeeded"));
    await take("pods", plain("young", "1", { creationTimestamp: new Date(NOW - MINUTE).toISOString() }));
    await take("nodes", gpuNode(2));
    expect(nodes.at(-1)).toMatchObject({
      compute: { cpuMillicores: 95_000, memoryBytes: 68_719_476_736 },
      others: {
        pods: 2,
        names: ["research/cache", "research/web"],
        requested: { cpuMillicores: 42_000, memoryBytes: 2_147_483_648 },
      },
    });
    await take("nodes", gpuNode(3), NOW + 10 * MINUTE);
    expect(nodes.at(-1)!.others!.pods).toBe(3);
    for (const name of ["web", "cache", "young"])
      projector.gone("pods", name, { atMillis: NOW, inferred: false }, { resourceVersion: "900", atMillis: NOW });
    await take("nodes", gpuNode(4));
    expect(nodes.at(-1)).not.toHaveProperty("others");
  });

  it("change no fact by themselves, and are not kept for other nodes", async () => {
    const { projector, nodes, take } = projecting();
    await take("pods", plain("early", "1"));
    await take("nodes", gpuNode(1));
    projector.listed("pods", NOW);
    await take("pods", plain("web", "12"));
    expect(nodes).toHaveLength(1);
    await take("nodes", gpuNode(2));
    expect(nodes.at(-1)!.others!.names).toEqual(["research/web"]);
  });
});

it("reads the version of a node's exporter from its pod", async () => {
  const { nodes, take } = projecting();
  await take("nodes", gpuNode(1));
  const spec = {
    nodeName: "node-1",
    containers: [{ image: "nvcr.io/nvidia/k8s/dcgm-exporter:4.5.1-4.8.2-ubuntu22.04" }],
  };
  await take("pods", pod({ metadata: { uid: "exporter" }, spec }));
  expect(nodes.at(-1)!.exporterVersion).toBe("4.5.1-4.8.2-ubuntu22.04");
});
