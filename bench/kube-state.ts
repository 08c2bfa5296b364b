import { podOf, uidOf } from "./page.ts";

/** The series of a metric at one time. */
export type StateSeries = readonly [name: string, labels: Readonly<Record<string, string>>, value: number];

/**
 * Returns the series of kube-state-metrics for nodes and for a pod on each of their GPUs, all since a time, as far as the import and the rules
 * read them.
 */
export function kubeState(nodes: readonly string[], gpusOfNode: number, sinceMillis: number): readonly StateSeries[] {
  const since = Math.floor(sinceMillis / 1000);
  const ofNode = (node: string, index: number): readonly StateSeries[] => {
    const gpu = { node, resource: "nvidia_com_gpu", unit: "integer" };
    const host = `10.0.${index >> 8}.${index & 255}`;
    const pods = Array.from({ length: gpusOfNode }, (_, slot) => {
      const pod = { namespace: "research", pod: podOf(node, slot), uid: uidOf(node, slot) };
      const owner = { owner_kind: "Job", owner_name: `train-${node}`, owner_is_controller: "true" };
      return [
        ["kube_pod_info", { ...pod, node, host_ip: host, pod_ip: `10.${1 + slot}.${index >> 8}.${index & 255}` }, 1],
        ["kube_pod_labels", pod, 1],
        ["kube_pod_owner", { ...pod, ...owner }, 1],
        ["kube_pod_created", pod, since],
        ["kube_pod_status_scheduled_time", pod, since],
        ["kube_pod_start_time", pod, since],
        ["kube_pod_status_phase", { ...pod, phase: "Running" }, 1],
        ["kube_pod_container_resource_requests", { ...pod, ...gpu, container: "main" }, 1],
        ["kube_pod_container_resource_limits", { ...pod, ...gpu, container: "main" }, 1],
        ["kube_pod_container_status_running", { ...pod, container: "main" }, 1],
      ] satisfies readonly StateSeries[];
    });
    return [
      ["kube_node_info", { node, internal_ip: host }, 1],
      ["kube_node_created", { node }, since],
      ["kube_node_status_capacity", gpu, gpusOfNode],
      ["kube_node_status_allocatable", gpu, gpusOfNode],
      ["kube_node_status_condition", { node, condition: "Ready", status: "true" }, 1],
      ...pods.flat(),
    ];
  };
  return [["kube_namespace_labels", { namespace: "research", label_team: "vision" }, 1], ...nodes.flatMap(ofNode)];
}

/** Returns the series of {@link kubeState} as a page, with those of a processor for the same pods and nodes. */
export function statePage(nodes: readonly string[], gpusOfNode: number): string {
  const halfADay = 43_200_000;
  const cluster = "west";
  const ofProcessor = (node: string): readonly StateSeries[] =>
    Array.from({ length: gpusOfNode }, (_, slot): readonly StateSeries[] => {
      const pod = { cluster, namespace: "research", pod: podOf(node, slot) };
      const owned = { uid: uidOf(node, slot), team: "vision", cost_centre: "CC-1" };
      const workload = { workload: `train-${node}`, workload_type: "training", queue: "gpu" };
      return [
        ["gpu_workload_info", { ...pod, ...owned, ...workload }, 1],
        ["gpu_workload_cost_per_hour", { ...pod, currency: "USD" }, 3.9],
      ];
    }).flat();
  const inventory = nodes.map((node): StateSeries => ["gpu_node_inventory_gpus", { cluster, node }, gpusOfNode]);
  return [...kubeState(nodes, gpusOfNode, Date.now() - halfADay), ...inventory, ...nodes.flatMap(ofProcessor)]
    .map(([name, labels, value]) => {
      const list = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
      return `${name}{${list.join(",")}} ${value}\n`;
    })
    .join("");
}
