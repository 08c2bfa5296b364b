/**
 * The metrics that an import reads. Their labels are in the documentation of kube-state-metrics
 * (https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics; of version 1.x:
 * https://github.com/kubernetes/kube-state-metrics/tree/release-1.9/docs) and of Kueue
 * (https://kueue.sigs.k8s.io/docs/reference/metrics/).
 */

/** The metrics that have a row with a GPU resource for each GPU pod. Select the rows with `gpuResourceRegexp`. */
export const GPU_POD_METRICS: readonly string[] = [
  "kube_pod_container_resource_requests",
  "kube_pod_container_resource_limits",
  "kube_pod_init_container_resource_requests",
  "kube_pod_init_container_resource_limits",
];

/** Selectors for GPU pods without a GPU resource: fractions by annotation, and KAI's and Run:ai's reservation pods. */
export const GPU_POD_SELECTORS: readonly string[] = [
  'kube_pod_annotations{annotation_gpu_fraction!=""}',
  'kube_pod_annotations{annotation_gpu_memory!=""}',
  'kube_pod_annotations{annotation_received_resource_type="MigInstance"}',
  'kube_pod_annotations{annotation_run_ai_reserve_for_gpu_index!=""}',
];

/** The metrics about GPU pods. Names that end in `_cores` and `_bytes` are of version 1.x. */
export const POD_METRICS: readonly string[] = [
  ...GPU_POD_METRICS,
  ...["requests", "limits"].flatMap((kind) => [
    `kube_pod_container_resource_${kind}_cpu_cores`,
    `kube_pod_container_resource_${kind}_memory_bytes`,
    `kube_pod_container_resource_${kind}_nvidia_gpu_devices`,
  ]),
  "kube_pod_annotations",
  "kube_pod_completion_time",
  "kube_pod_container_info",
  "kube_pod_container_state_started",
  "kube_pod_container_status_restarts_total",
  "kube_pod_container_status_running",
  "kube_pod_container_status_terminated_reason",
  "kube_pod_container_status_waiting_reason",
  "kube_pod_created",
  "kube_pod_deletion_timestamp",
  "kube_pod_info",
  "kube_pod_init_container_info",
  "kube_pod_init_container_status_restarts_total",
  "kube_pod_init_container_status_waiting_reason",
  "kube_pod_labels",
  "kube_pod_nodeselectors",
  "kube_pod_owner",
  "kube_pod_scheduler",
  "kube_pod_start_time",
  "kube_pod_status_container_ready_time",
  "kube_pod_status_phase",
  "kube_pod_status_ready",
  "kube_pod_status_ready_time",
  "kube_pod_status_reason",
  "kube_pod_status_scheduled_time",
  "kube_pod_status_unschedulable",
  "kube_pod_status_unscheduled_time",
  "kube_pod_tolerations",
];

/** The metrics about nodes. */
export const NODE_METRICS: readonly string[] = [
  "kube_node_annotations",
  "kube_node_created",
  "kube_node_info",
  "kube_node_labels",
  "kube_node_spec_taint",
  "kube_node_spec_unschedulable",
  "kube_node_status_allocatable",
  "kube_node_status_capacity",
  "kube_node_status_condition",
  ...["capacity", "allocatable"].flatMap((kind) => [
    `kube_node_status_${kind}_cpu_cores`,
    `kube_node_status_${kind}_memory_bytes`,
    `kube_node_status_${kind}_nvidia_gpu_cards`,
  ]),
];

/** The metrics with the owners of pods' owners, and with the labels of owners. */
export const OWNER_METRICS: readonly string[] = [
  "kube_replicaset_owner",
  "kube_job_owner",
  "kube_job_spec_active_deadline_seconds",
  "kube_deployment_owner",
  ...["replicaset", "job", "deployment", "statefulset", "daemonset", "cronjob"].flatMap((kind) => [
    `kube_${kind}_labels`,
    `kube_${kind}_annotations`,
  ]),
];

/** The metrics about namespaces, quotas and default requests. */
export const NAMESPACE_METRICS: readonly string[] = [
  "kube_limitrange",
  "kube_limitrange_created",
  "kube_namespace_annotations",
  "kube_namespace_created",
  "kube_namespace_labels",
  "kube_namespace_status_phase",
  "kube_resourcequota",
  "kube_resourcequota_created",
];

/** The metrics about Kueue's queues. Quotas and usage need `metrics.enableClusterQueueResources` in Kueue's configuration. */
export const KUEUE_METRICS: readonly string[] = [
  "kueue_cluster_queue_nominal_quota",
  "kueue_cluster_queue_resource_usage",
  "kueue_local_queue_pending_workloads",
  "kueue_local_queue_resource_usage",
  "kueue_pending_workloads",
];
