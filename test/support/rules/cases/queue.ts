import { fires, silent, type RuleCase } from "../case.ts";
import { series } from "../fleet.ts";

const POD = { namespace: "ml", pod: "train-0" } as const;
const requests = (pod: Readonly<Record<string, string>>, resource: string) =>
  series("kube_pod_container_resource_requests", "4x200", { ...pod, container: "main", resource, unit: "integer" });

/** Pods that request GPUs and have none. */
export const QUEUE_CASES: readonly RuleCase[] = [
  {
    name: "GPUPodsPending fires half an hour after a pod began to wait for GPUs, and ends when it runs",
    input: [
      requests(POD, "nvidia_com_gpu"),
      series("kube_pod_status_phase", "0x9 1x89 0x60", { ...POD, phase: "Pending" }),
      requests({ namespace: "ml", pod: "web-0" }, "cpu"),
      series("kube_pod_status_phase", "1x200", { namespace: "ml", pod: "web-0", phase: "Pending" }),
      requests({ namespace: "ml", pod: "runs-0" }, "nvidia_com_gpu"),
      series("kube_pod_status_phase", "0x200", { namespace: "ml", pod: "runs-0", phase: "Pending" }),
      series("gpu_workload_info", "1x200", { namespace: "ml", pod: "runs-0", team: "vision" }),
      series("gpu_workload_info", "1x200", { ...POD, team: "vision", workload: "train", queue: "gpu" }),
    ],
    expect: [
      ...silent("GPUPodsPending", "4m", "34m30s", "50m"),
      ...fires(
        "GPUPodsPending",
        {
          labels: { ...POD, team: "vision", workload: "train", queue: "gpu", severity: "info", notify: "none" },
          annotations: {
            description: "Pod ml/train-0 has waited for 4 GPUs, or parts of them, for more than half an hour.",
          },
        },
        "35m",
        "49m",
      ),
    ],
  },
];
