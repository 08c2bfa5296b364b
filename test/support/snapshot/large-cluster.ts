import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { KubernetesObject } from "../../../demo/kubernetes/server/object.ts";
import { startApiServer, type ApiServer } from "../../../demo/kubernetes/server/server.ts";
import { dcgmPage } from "../dcgm-page.ts";
import { largeNode, largePod, largeReplicaSets, nodeName, type LargePod } from "./large-objects.ts";

/** The size of a large cluster. */
export interface LargePlan {
  readonly nodes: number;
  readonly gpusOfNode: number;
  /** All pods, those of exporters included. */
  readonly pods: number;
  /** The pods with GPUs, at most one for each GPU. */
  readonly gpuPods: number;
}

/** 500 nodes with 4,000 GPUs, 5,000 pods of which 3,000 have one GPU, 500 exporters. */
export const LARGE_PLAN: LargePlan = { nodes: 500, gpusOfNode: 8, pods: 5_000, gpuPods: 3_000 };

/** A large cluster on an API server, with the pages of its exporters. */
export interface LargeCluster {
  readonly server: ApiServer;
  stop(): Promise<void>;
}

/** Starts the cluster. Its objects depend only on the plan, and the numbers of the pages also on the time. */
export async function startLargeCluster(plan: LargePlan = LARGE_PLAN): Promise<LargeCluster> {
  const holders = new Map<string, LargePod[]>();
  const pods = Array.from({ length: plan.pods - plan.nodes }, (_, index) => podAt(plan, index));
  for (const pod of pods) if (pod.gpu !== undefined) holders.set(pod.node, [...(holders.get(pod.node) ?? []), pod]);

  const pages = createServer((request, response) => {
    const name = /^\/nodes\/([^/]+)\/metrics$/.exec(request.url ?? "")?.[1] ?? "";
    const seconds = Date.now() / 1000;
    const page = dcgmPage({
      gpus: plan.gpusOfNode,
      host: name,
      value: (family, gpu) =>
        family.endsWith("_ACTIVE")
          ? "0.53125"
          : String(Math.round(gpu + seconds * (family.includes("ENERGY") ? 400_000 : 1)) % 4e9),
      pod: (gpu) => holders.get(name)?.[gpu]?.name,
    });
    response.setHeader("content-type", "text/plain; version=0.0.4");
    response.end(page);
  });
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  const { port } = pages.address() as AddressInfo;

  const server = await startApiServer();
  const put = (object: KubernetesObject): void => void server.put(object);
  for (let index = 0; index < plan.nodes; index++) put(largeNode(index, plan.gpusOfNode));
  for (const namespace of new Set(pods.map((pod) => pod.namespace)))
    put({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace, uid: `uid-of-${namespace}`, labels: { team: namespace } },
    });
  for (const set of largeReplicaSets(pods)) put(set);
  for (const pod of pods) put(largePod(pod));
  for (let index = 0; index < plan.nodes; index++) put(exporterPod(nodeName(index), port));

  return {
    server,
    async stop() {
      await server.stop();
      pages.closeAllConnections();
      await new Promise((resolve) => pages.close(resolve));
    },
  };
}

/**
 * Returns the pod of a number: first those with a GPU, node by node in turn, then the others. The namespace of a GPU's pod is the one that
 * `dcgmPage` has for the GPU.
 */
function podAt({ nodes, gpuPods }: LargePlan, index: number): LargePod {
  const gpu = index < gpuPods ? Math.floor(index / nodes) : undefined;
  const namespace = `team-${(gpu ?? Math.floor(index / nodes)) % 3}`;
  return { index, name: `pod-${index}`, namespace, node: nodeName(index % nodes), gpu };
}

function exporterPod(node: string, port: number): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `dcgm-exporter-${node}`,
      namespace: "gpu-operator",
      uid: `uid-of-exporter-${node}`,
      creationTimestamp: "2026-01-02T06:00:00Z",
      labels: { app: "nvidia-dcgm-exporter" },
      annotations: { "prometheus.io/port": String(port), "prometheus.io/path": `/nodes/${node}/metrics` },
    },
    spec: {
      nodeName: node,
      containers: [
        { name: "exporter", image: "nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3", ports: [{ containerPort: port }] },
      ],
    },
    status: { phase: "Running", podIP: "127.0.0.1" },
  };
}
