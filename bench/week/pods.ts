import { hash, type WeekFleet, type WeekPod } from "./fleet.ts";
import {
  always,
  between,
  DAY,
  familyOf,
  FOUR_MINUTES,
  MINUTE,
  QUICK,
  TWO_MINUTES,
  type Labels,
  type WeekFamily,
  type WeekSeries,
} from "./series.ts";

const DRIVER = "550.144.03";

const keys = ({ gpu, namespace, name }: WeekPod): Labels => ({ cluster: gpu.node.cluster, namespace, pod: name });
const onGpu = (pod: WeekPod): Labels => ({ ...keys(pod), node: pod.gpu.node.name, UUID: pod.gpu.uuid });
const ofWorkload = (pod: WeekPod): Labels => ({ ...onGpu(pod), workload: pod.workload });
const owned = (pod: WeekPod): Labels => ({
  ...keys(pod),
  team: pod.team,
  cost_centre: `CC-${pod.team}`,
  workload: pod.workload,
  workload_type: "Job",
  queue: "default",
});
/** Labels of kube-state-metrics. */
const inKubernetes = (pod: WeekPod): Labels => ({
  ...keys(pod),
  job: "kube-state-metrics",
  instance: `10.9.0.${pod.gpu.node.number % 4}:8080`,
  uid: `6f1c2b7a-0000-4000-8000-${String(hash(pod.gpu.number, pod.from)).padStart(12, "0")}`,
  container: "main",
});
/** Labels of dcgm-exporter. */
const onPage = (pod: WeekPod): Labels => ({
  ...keys(pod),
  job: "dcgm-exporter",
  instance: pod.gpu.node.instance,
  gpu: String(pod.gpu.gpu),
  UUID: pod.gpu.uuid,
  pci_bus_id: `00000000:${(16 + pod.gpu.gpu).toString(16).toUpperCase()}:00.0`,
  device: `nvidia${pod.gpu.gpu}`,
  modelName: pod.gpu.node.model,
  Hostname: pod.gpu.node.name,
  DCGM_FI_DRIVER_VERSION: DRIVER,
  container: "main",
});

/** Yields the recorded series of pods and their devices, and the series of exporters and Kubernetes with their names. */
export function podFamilies({ pods, shown }: WeekFleet): readonly WeekFamily[] {
  const familyOfPods =
    (isShown: (pod: WeekPod) => boolean) =>
    (
      name: string,
      seconds: number,
      labels: (pod: WeekPod) => Labels,
      valueOf: (pod: WeekPod) => WeekSeries["valueAt"],
    ): WeekFamily =>
      familyOf({ name, seconds }, pods, (pod) => ({
        labels: labels(pod),
        from: pod.from,
        until: pod.until,
        isShown: isShown(pod),
        valueAt: valueOf(pod),
      }));
  // The series that panels read over days for one namespace, for one node, and only now.
  const ofPods = familyOfPods(({ namespace }) => namespace === shown.namespace);
  const ofNode = familyOfPods(({ gpu }) => gpu.node.name === shown.node);
  const ofNow = familyOfPods(() => false);
  const page = (name: string, least: number, most: number): WeekFamily =>
    ofNode(name, QUICK, onPage, ({ gpu }) => between(least, most, gpu.number));
  const pending = (pod: WeekPod): Labels => ({ ...inKubernetes(pod), phase: "Pending" });
  const image = (pod: WeekPod): Labels => ({ ...inKubernetes(pod), image: `registry/${pod.team}/train:7` });
  const restarts =
    ({ from }: WeekPod): WeekSeries["valueAt"] =>
    (at) =>
      Math.floor((at - from) / DAY);
  const jobs = [...new Map(pods.map((pod) => [pod.workload, pod])).values()];
  const quantiles = jobs.flatMap((job) => ["0", "0.5", "1"].map((quantile) => ({ job, quantile })));
  const spread = (name: string): WeekFamily =>
    familyOf({ name, seconds: TWO_MINUTES }, quantiles, ({ job, quantile }) => ({
      labels: { cluster: job.gpu.node.cluster, namespace: job.namespace, workload: job.workload, quantile },
      from: job.from,
      until: job.until,
      isShown: job.namespace === shown.namespace,
      valueAt: between(0, 1, job.gpu.number),
    }));
  return [
    spread("workload:gpu_activity:quantile"),
    spread("workload:gpu_memory_used:quantile"),
    ofNode("gpu:device_holder:info", MINUTE, onGpu, () => always(1)),
    ofNow("gpu:pod_activity:ratio", MINUTE, onGpu, ({ gpu }) => between(0, 1, gpu.number)),
    ofPods("gpu:workload_activity:ratio", TWO_MINUTES, ofWorkload, ({ gpu }) => between(0, 1, gpu.number)),
    ofPods("gpu:workload_memory_used:ratio", TWO_MINUTES, ofWorkload, ({ gpu }) => between(0.4, 0.9, gpu.number)),
    ofPods("gpu:workload:info", TWO_MINUTES, owned, () => always(1)),
    ofPods("pod:gpu_start:timestamp", TWO_MINUTES, keys, ({ from }) => always(from)),
    ofNow(
      "pod:gpu_cost_per_hour:sum",
      FOUR_MINUTES,
      (pod) => ({ ...keys(pod), currency: "USD" }),
      () => always(3.2),
    ),
    page("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 0, 1),
    page("DCGM_FI_DEV_POWER_USAGE", 120, 700),
    page("DCGM_FI_DEV_SM_CLOCK", 1_200, 1_980),
    ofNow("kube_pod_status_phase", QUICK, pending, () => always(0)),
    ofPods("kube_pod_container_status_restarts_total", QUICK, inKubernetes, restarts),
    ofNow("kube_pod_container_info", QUICK, image, () => always(1)),
  ];
}
