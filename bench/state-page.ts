import { podOf } from "./page.ts";

/** Half a day before the page. */
const STARTED_SECONDS = Math.floor(Date.now() / 1000) - 43_200;

/**
 * Returns the series of kube-state-metrics for nodes and for a pod on each of their GPUs, with the labels that rules read, and the
 * series of a processor for the same pods and nodes.
 */
export function statePage(nodes: readonly string[], gpusOfNode: number): string {
  const lines: string[] = [];
  const cluster = "west";
  const add = (name: string, labels: Readonly<Record<string, string>>, value: number): void => {
    const list = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
    lines.push(`${name}{${list.join(",")}} ${value}`);
  };
  add("kube_namespace_labels", { namespace: "research", label_team: "vision" }, 1);
  for (const node of nodes) {
    const gpu = { node, resource: "nvidia_com_gpu", unit: "integer" };
    add("kube_node_status_capacity", gpu, gpusOfNode);
    add("kube_node_status_allocatable", gpu, gpusOfNode);
    add("gpu_node_inventory_gpus", { cluster, node }, gpusOfNode);
    for (let index = 0; index < gpusOfNode; index++) {
      const pod = { namespace: "research", pod: podOf(node, index) };
      const uid = `${node}-${index}`;
      const resource = { container: "main", node, resource: "nvidia_com_gpu", unit: "integer" };
      add("kube_pod_container_resource_requests", { ...pod, ...resource }, 1);
      add("kube_pod_info", { ...pod, uid, node, host_ip: "10.0.0.1", pod_ip: "10.1.0.1" }, 1);
      add("kube_pod_labels", { ...pod, uid }, 1);
      const owner = { owner_kind: "Job", owner_name: `train-${node}`, owner_is_controller: "true" };
      add("kube_pod_owner", { ...pod, uid, ...owner }, 1);
      add("kube_pod_start_time", { ...pod, uid }, STARTED_SECONDS);
      add("kube_pod_status_phase", { ...pod, uid, phase: "Running" }, 1);
      const workload = { workload: `train-${node}`, workload_type: "training", queue: "gpu" };
      add("gpu_workload_info", { cluster, ...pod, uid, team: "vision", cost_centre: "CC-1", ...workload }, 1);
      add("gpu_workload_cost_per_hour", { cluster, ...pod, currency: "USD" }, 3.9);
    }
  }
  return `${lines.join("\n")}\n`;
}
