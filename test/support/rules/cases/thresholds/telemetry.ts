import { fires, silent, type ExpectedAlert, type InputSeries, type RuleCase } from "../../case.ts";
import { exporterUp, gpuLabels, gpuPlace, known, series } from "../../fleet.ts";

const capacity = (node: string, values: string): InputSeries =>
  series("kube_node_status_capacity", values, { node, resource: "nvidia_com_gpu", unit: "integer" });
const devices = (node: string, values: string): InputSeries => series("node:gpu_devices:count", values, { node });
const gpus = (node: string, values: string): InputSeries => series("node:gpus:count", values, { node });
const inventory = (node: string, values: string, cluster = ""): InputSeries =>
  series("gpu_node_inventory_gpus", values, { node, cluster, instance: "processor-0:8080" });

const lost = (node: string, count: number): ExpectedAlert => ({
  labels: { node, severity: "critical", notify: "page" },
  annotations: {
    description: `${count} GPUs of node ${node} have no series any more. They may have fallen off the bus. Programs on them have failed or hang.`,
  },
});

/** Alerts about missing telemetry, on recorded series. */
export const TELEMETRY_THRESHOLD_CASES: readonly RuleCase[] = [
  {
    name: "GPUProfilingCountersStuck fires for a day after counters were last seen to stand at 0",
    every: "30m",
    evaluate: "30m",
    input: [known({}, "1x80"), series("gpu:profiling_stuck:info", "1x4 stale", gpuLabels())],
    expect: [
      ...fires(
        "GPUProfilingCountersStuck",
        {
          labels: { ...gpuLabels(), severity: "warning", notify: "ticket" },
          annotations: {
            description: `${gpuPlace()}The GPU is busy for more than half of the time, but its profiling counters are 0. Tools that use only these counters show an idle GPU. gpu-ledger uses the utilization instead.`,
            gpu: "0 (NVIDIA H100 80GB HBM3)",
            held_by: "",
          },
        },
        "2h",
        "26h",
      ),
      ...silent("GPUProfilingCountersStuck", "27h"),
    ],
  },
  {
    name: "GPUDisappeared remembers the inventory of a processor that went away for ten minutes",
    input: [inventory("node-1", "2x39"), gpus("node-1", "1x100")],
    expect: [
      ...silent("GPUDisappeared", "9m30s", "30m"),
      ...fires("GPUDisappeared", lost("node-1", 1), "10m", "29m30s"),
    ],
  },
  {
    name: "GPUDisappeared reads an inventory without its cluster where a processor names a single one, of nodes that are known without",
    input: [
      gpus("node-1", "1x200"),
      inventory("node-1", "2x59", "eu"),
      inventory("node-2", "1x200", "eu"),
      inventory("node-3", "1x19", "us"),
    ],
    expect: [
      ...silent("GPUDisappeared", "19m30s", "29m30s", "40m"),
      ...fires("GPUDisappeared", lost("node-1", 1), "30m", "39m30s"),
    ],
  },
  {
    name: "GPUDisappeared counts an exporter without GPUs as 0 GPUs, and ignores an exporter that does not answer",
    input: ["node-1", "node-2"].flatMap((node) => [
      inventory(node, "2x200"),
      known({ node }, "1x19 stale"),
      exporterUp(node === "node-1" ? "1x200" : "0x200", { node }),
    ]),
    expect: [...silent("GPUDisappeared", "9m30s"), ...fires("GPUDisappeared", lost("node-1", 2), "10m", "1h")],
  },
  {
    name: "GPUDisappeared takes a capacity of twice the devices and more for replicas, of all that were there within a week",
    every: "1h",
    evaluate: "1h",
    input: [
      capacity("replicas", "4x60"),
      devices("replicas", "2x60"),
      capacity("lost-one", "3x60"),
      devices("lost-one", "2x60"),
      capacity("lost-half", "4x60"),
      devices("lost-half", "4x9 2x60"),
    ],
    expect: fires("GPUDisappeared", [lost("lost-one", 1), lost("lost-half", 2)], "20h", "50h"),
  },
  {
    name: "GPUDisappeared fires for a node that has been seen for less than an hour",
    input: [
      capacity("node-1", "3x100"),
      devices("node-1", "_x10 2x100"),
      capacity("node-2", "4x100"),
      devices("node-2", "_x10 2x100"),
    ],
    expect: fires("GPUDisappeared", lost("node-1", 1), "20m"),
  },
  {
    name: "GPUSharingUnmeasured is silent about nodes without any GPU that is not measured",
    evaluate: "1m",
    input: ["0", "1"].map((count) =>
      series("node:gpus_without_process_values:count", `${count}x200`, { node: `node-${count}` }),
    ),
    expect: [
      ...silent("GPUSharingUnmeasured", "59m"),
      ...fires(
        "GPUSharingUnmeasured",
        {
          labels: { node: "node-1", severity: "info", notify: "none" },
          annotations: {
            description:
              "On node node-1 1 GPUs are shared by pods, and the exporter has no figures of each pod. These pods have no activity and no alerts about waste. Use dcgm-exporter 4.8.2 or later with --kubernetes-virtual-gpus.",
          },
        },
        "1h",
      ),
    ],
  },
];
