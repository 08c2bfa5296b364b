import type { PodPages } from "./pod-pages.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { enginesOf } from "../../serving/engine.ts";
import { gatewayPodOf } from "../../serving/gateway.ts";
import { enginePath, GATEWAY_PATH } from "../../serving/servers.ts";
import type { KubernetesObject } from "../server/object.ts";
import type { PodLife } from "./lives.ts";
import { LONG_AGO } from "./namespaces.ts";
import { condition } from "./pod-status.ts";
import { timestamp } from "./times.ts";

/** The address of the engines and the gateway, from `startEngineServers`. */
export interface EngineAddress {
  readonly host: string;
  readonly ports: readonly number[];
}

/** Returns the fields of a pod with engines; undefined for any other pod. */
export function pagesOfEngines(life: PodLife, address: EngineAddress): PodPages | undefined {
  const { length } = enginesOf(life);
  return length === 0 ? undefined : pagesAt("vllm", address, enginePath(life.node.name, life.uid), length);
}

function pagesAt(app: string, { host, ports }: EngineAddress, path: string, count: number): PodPages {
  return {
    labels: { "app.kubernetes.io/name": app },
    annotations: { "prometheus.io/scrape": "true", "prometheus.io/path": path },
    ports: ports.slice(0, count).map((containerPort, index) => ({
      name: index === 0 ? "metrics" : `metrics-${index + 1}`,
      containerPort,
      protocol: "TCP",
    })),
    podIP: host,
  };
}

/** Returns the pod of the fleet's gateway. It has no GPU, and its node is not one of the fleet's. */
export function gatewayPod(fleet: Fleet, address: EngineAddress): KubernetesObject {
  const { name, namespace, uid, node } = gatewayPodOf(fleet);
  const { labels, annotations, ports, podIP } = pagesAt("litellm", address, GATEWAY_PATH, 1);
  const started = timestamp(LONG_AGO);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid, creationTimestamp: started, labels, annotations },
    spec: {
      containers: [{ name: "litellm", image: "registry.example/litellm:1.110", ports, resources: {} }],
      nodeName: node,
    },
    status: {
      phase: "Running",
      conditions: [condition("Ready", true, LONG_AGO), condition("PodScheduled", true, LONG_AGO)],
      podIP,
      podIPs: [{ ip: podIP }],
      startTime: started,
    },
  };
}
