import { gives, records, type RuleCase } from "../../case.ts";
import { gpuLabels, series } from "../../fleet.ts";

const ml = (pod: string) => ({ namespace: "ml", pod });
const exported = (pod: string) => ({ exported_namespace: "ml", exported_pod: pod });
const holder = (pod: string, values = "1x200") =>
  series("gpu:device_holder:info", values, { ...gpuLabels(), ...ml(pod) });
const requests = (pod: string) => series("pod:gpu_requests:count", "1x20", ml(pod));

/** The processors' series of pods, and the series that are recorded from them. */
const RECORDS = [
  { name: "gpu_workload_info", record: "pod:processor_owner:info" },
  { name: "gpu_workload_cost_per_hour", record: "pod:gpu_cost_per_hour:sum" },
] as const;

/** The owners of pods, from the series of kube-state-metrics and of processors. */
export const WORKLOAD_CASES: readonly RuleCase[] = [
  {
    name: "a pod that requests GPUs has one owner: the processor's, else Kubernetes' team and controller, else the namespace's team",
    input: [
      requests("train-0"),
      requests("train-1"),
      requests("owned-0"),
      series("kube_namespace_labels", "1x20", { namespace: "ml", label_team: "nlp" }),
      ...["processor-0", "processor-1"].map((instance) =>
        series("gpu_workload_info", "1x20", { ...ml("owned-0"), instance, team: `team of ${instance}` }),
      ),
      ...["shard-0", "shard-1"].flatMap((instance) =>
        ["train-0", "owned-0", "web-0"].flatMap((pod) => [
          series("kube_pod_labels", "1x20", { ...ml(pod), instance, label_team: `team of ${instance}` }),
          series("kube_pod_owner", "1x20", {
            ...ml(pod),
            instance,
            owner_kind: "Job",
            owner_name: `job of ${instance}`,
            owner_is_controller: "true",
          }),
        ]),
      ),
    ],
    expect: [
      ...gives("count by (pod) (pod:owner_team:info)", { '{pod="train-0"}': 1, '{pod="train-1"}': 1 }, "5m"),
      ...gives("count by (pod) (pod:owner_workload:info)", { '{pod="train-0"}': 1 }, "5m"),
      ...gives("count by (pod) (pod:processor_owner:info)", { '{pod="owned-0"}': 1 }, "5m"),
    ],
  },
  ...RECORDS.map(({ name, record }): RuleCase => {
    const byPod = `count by (cluster, pod) (${record})`;
    return {
      name: `${name} of a processor that went away is remembered for ten minutes`,
      input: [
        holder("train-0"),
        holder("train-1"),
        series(name, "1x9", ml("train-0")),
        series(name, "1x9", exported("train-1")),
        series(name, "1x9", ml("elsewhere")),
      ],
      expect: [...gives(byPod, { '{pod="train-0"}': 1, '{pod="train-1"}': 1 }, "14m30s"), ...gives(byPod, {}, "15m")],
    };
  }),
  ...RECORDS.flatMap(({ name, record }) =>
    [ml, exported].map((labeled): RuleCase => {
      const ofNoCluster = `count by (pod) (${record}{cluster=""})`;
      return {
        name: `${name} with ${Object.keys(labeled("")).join(" and ")} is read without its cluster where a processor names a single one, of pods that are known without`,
        input: [
          ...["train-0", "train-1", "train-2"].map((pod) => holder(pod)),
          // A pod is known for ten minutes after its last sample.
          holder("gone", "1x21"),
          ...["train-0", "gone"].map((pod) => series(name, "1x120", { ...labeled(pod), cluster: "eu" })),
          series(name, "1x59", { ...labeled("train-1"), cluster: "eu" }),
          series(name, "1x120", { ...labeled("elsewhere"), cluster: "eu" }),
          series(name, "1x19", { ...labeled("train-2"), cluster: "us" }),
          series("gpu_node_inventory_gpus", "8x120", { cluster: "eu", node: "node-1" }),
          series("gpu_node_inventory_gpus", "8x19", { cluster: "us", node: "node-2" }),
        ],
        expect: [
          ...gives(ofNoCluster, {}, "10m", "19m30s"),
          ...gives(ofNoCluster, { '{pod="train-0"}': 1, '{pod="train-1"}': 1, '{pod="gone"}': 1 }, "20m"),
          ...gives(ofNoCluster, { '{pod="train-0"}': 1, '{pod="train-1"}': 1 }, "24m30s", "39m30s"),
          ...gives(ofNoCluster, { '{pod="train-0"}': 1 }, "40m"),
        ],
      };
    }),
  ),
  {
    name: "alerts about waste are off for pods with the label, and for those that hold GPUs in a namespace with it",
    input: [
      holder("train-0"),
      series("gpu:device_holder:info", "1x20", { ...gpuLabels({ gpu: 1 }), namespace: "lab", pod: "nb-0" }),
      series("kube_namespace_labels", "1x20", { namespace: "lab", label_gpu_ledger_alerts: "off" }),
      series("kube_pod_labels", "1x20", { ...ml("train-1"), label_gpu_ledger_alerts: "off" }),
    ],
    expect: records(
      "pod:alerts_off:info",
      [
        [{ namespace: "lab", pod: "nb-0" }, 1],
        [ml("train-1"), 1],
      ],
      "5m",
    ),
  },
  {
    name: "a workload has its devices with the lowest, the median and the highest activity; devices of no workload are left out",
    input: [
      ...[0, 1, 2].flatMap((gpu) => [
        series("gpu:pod_activity:ratio", `${[0.2, 0.6, 0.7][gpu]}x20`, {
          ...gpuLabels({ gpu }),
          ...ml(`train-${gpu}`),
        }),
        series("gpu:device_holder:info", "1x20", { ...gpuLabels({ gpu }), ...ml(`train-${gpu}`) }),
        series("gpu:memory_used:ratio", `${[0.5, 0.25, 1][gpu]}x20`, gpuLabels({ gpu })),
        series("gpu:workload:info", "1x20", { ...ml(`train-${gpu}`), workload: "train", team: `team-${gpu}` }),
      ]),
      series("gpu:pod_activity:ratio", "1x20", { ...gpuLabels({ gpu: 3 }), ...ml("alone") }),
      series("gpu:workload:info", "1x20", { ...ml("alone"), team: "nlp" }),
    ],
    expect: (
      [
        ["activity", [0.2, 0.6, 0.7], [0.2, 0.6, 0.7]],
        ["memory_used", [0.5, 0.25, 1], [0.25, 0.5, 1]],
      ] as const
    ).flatMap(([of, each, quantiles]) => [
      ...records(
        `gpu:workload_${of}:ratio`,
        each.map((value, gpu) => [{ ...gpuLabels({ gpu }), ...ml(`train-${gpu}`), workload: "train" }, value] as const),
        "5m",
      ),
      ...records(
        `workload:gpu_${of}:quantile`,
        ["0", "0.5", "1"].map(
          (quantile, place) => [{ namespace: "ml", workload: "train", quantile }, quantiles[place]!] as const,
        ),
        "5m",
      ),
    ]),
  },
];
