/** The selector of pods with pages, with their ports and paths. */
export interface PodSelector {
  readonly labels: string;
  /** The namespaces of the pods, instead of the discovery's own. */
  readonly namespaces?: readonly string[] | undefined;
  /** The port of pods whose annotations and ports have none. */
  readonly port: number;
  /** The name of the container port with the page. Pods without it are left out. */
  readonly portName?: string | undefined;
  /** The path and the scheme, instead of those of the job. */
  readonly path?: string | undefined;
  readonly scheme?: "http" | "https" | undefined;
  /** True if their pages are companions of the page of their node's exporter. On a node without an exporter they are targets themselves. */
  readonly companion: boolean;
}

/**
 * The labels and ports of exporters in their own charts and operators: dcgm-exporter's chart, NVIDIA's GPU Operator, GKE's managed DCGM,
 * AMD's device-metrics-exporter by its chart and by AMD's operator, nvidia_gpu_exporter, HAMi's vGPU monitor.
 */
export const EXPORTER_SELECTORS: readonly PodSelector[] = [
  { labels: "app.kubernetes.io/name=dcgm-exporter", port: 9400, companion: false },
  { labels: "app=nvidia-dcgm-exporter", port: 9400, companion: false },
  { labels: "app.kubernetes.io/name=gke-managed-dcgm-exporter", port: 9400, companion: false },
  { labels: "app.kubernetes.io/name in (device-metrics-exporter,metrics-exporter)", port: 5000, companion: false },
  { labels: "app.kubernetes.io/name=nvidia-gpu-exporter", port: 9835, companion: false },
  { labels: "app.kubernetes.io/component=hami-device-plugin", port: 9394, companion: true },
];

/**
 * The namespaces of these charts and operators in their documentation: NVIDIA's GPU Operator with OpenShift's and earlier names, device
 * plugin and dcgm-exporter, GKE's managed ones, AMD's operator, HAMi, and the usual namespaces of monitoring.
 */
export const EXPORTER_NAMESPACES: readonly string[] = [
  "amazon-cloudwatch",
  "dcgm-exporter",
  "gke-managed-system",
  "gmp-public",
  "gpu-monitoring",
  "gpu-operator",
  "gpu-operator-resources",
  "hami-system",
  "kube-amd-gpu",
  "kube-system",
  "monitoring",
  "nvidia-device-plugin",
  "nvidia-gpu-operator",
  "openshift-amd-gpu",
];

const pods = (labels: string, port: number, more: Partial<PodSelector> = {}): PodSelector => ({
  labels,
  port,
  companion: false,
  ...more,
});

/**
 * The labels and ports of engines and gateways in their own charts, operators and examples: vLLM's production stack, llm-d's model service,
 * KServe's InferenceService and LLMInferenceService (which serves TLS), Dynamo's operator, Triton, engines by their names, LiteLLM's chart,
 * and the proxies of Envoy AI Gateway. They run in the namespaces of their owners, so there are no default namespaces.
 */
export const SERVING_SELECTORS: readonly PodSelector[] = [
  pods("helm-release-name,model", 8000, { portName: "container-port" }),
  pods("llm-d.ai/inferenceServing=true", 8000),
  pods("serving.kserve.io/inferenceservice", 8080),
  pods("app.kubernetes.io/part-of=llminferenceservice,kserve.io/component=workload", 8000, { scheme: "https" }),
  pods("nvidia.com/metrics-enabled=true,nvidia.com/dynamo-component-type=frontend", 8000),
  pods("nvidia.com/metrics-enabled=true,nvidia.com/dynamo-component-type in (worker,prefill,decode)", 9090, {
    portName: "system",
  }),
  pods("app in (triton-inference-server,tritonserver)", 8002),
  pods("app.kubernetes.io/name in (triton-inference-server,tritonserver)", 8002),
  pods("app in (vllm,sglang,text-generation-inference)", 8000),
  pods("app.kubernetes.io/name in (vllm,sglang,text-generation-inference,tgi)", 8000),
  pods("app.kubernetes.io/name=trtllm", 8000, { path: "/prometheus/metrics" }),
  pods("app.kubernetes.io/name in (litellm,litellm-helm)", 4000, { path: "/metrics/" }),
  pods("app.kubernetes.io/managed-by=envoy-gateway,app.kubernetes.io/component=proxy", 1064, {
    portName: "aigw-metrics",
  }),
];
