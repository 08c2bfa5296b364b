import { records, type RuleCase } from "../../case.ts";
import { amd, dcgm, gpuLabels, known, series, type RawGpu } from "../../fleet.ts";

const GPUS = [0, 1, 2, 3] as const;
const POD = { namespace: "ml", pod: "train-0" } as const;
const BASE_UNITS = series("exporter:base_units:info", "1x400", { instance: "node-2:9400" });
const ofGpu = (record: string, values: string, of: RawGpu = {}) =>
  series(record, values, { ...gpuLabels(of), ...of.labels });
const holder = (of: RawGpu = {}) =>
  ofGpu("gpu:device_holder:info", "1x400", { ...of, labels: { ...POD, ...of.labels } });

/** Utilization of four GPUs, each in another form: in percent, as a ratio, as a ratio that is a percentage, by AMD. */
const TOLD: readonly RawGpu[] = [{}, { node: "node-2" }, { gpu: 2 }, { gpu: 3 }];
/** GPUs whose exporter reports the activity of single processes: AMD's does not. */
const TOLD_OF_PROCESSES = TOLD.slice(0, 3);
const utilizations = (part: number, labels: Readonly<Record<string, string>>) => [
  dcgm("DCGM_FI_DEV_GPU_UTIL", `${100 * part}x20`, { ...TOLD[0]!, labels }),
  dcgm("DCGM_FI_DEV_GPU_UTIL_RATIO", `${part}x20`, { ...TOLD[1]!, labels }),
  dcgm("DCGM_FI_DEV_GPU_UTIL_RATIO", `${100 * part}x20`, { ...TOLD[2]!, labels }),
  amd("gpu_usage", `${100 * part}x20`, { ...TOLD[3]!, labels }),
];

/** The holders of devices and their activity, from the recorded series of devices. */
export const HOLDER_CASES: readonly RuleCase[] = [
  {
    name: "a node without holders has 0 held GPUs",
    input: [series("node:gpu_devices:count", "4x20", { node: "node-1" }), holder({ node: "node-2" })],
    expect: records(
      "node:gpus_held:count",
      [
        [{ node: "node-1" }, 0],
        [{ node: "node-2" }, 1],
      ],
      "5m",
    ),
  },
  {
    name: "a node has replicas if its resource counts at least twice its devices of a day",
    every: "1h",
    evaluate: "1h",
    input: [
      ["node-1", "4x40", "2x40"],
      ["node-2", "3x40", "2x40"],
      ["node-3", "4x40", "4x5 2x40"],
    ].flatMap(([node, capacity, devices]) => [
      series("kube_node_status_capacity", capacity!, { node: node!, resource: "nvidia_com_gpu" }),
      series("node:gpu_devices:count", devices!, { node: node! }),
      ofGpu("gpu:device_activity:ratio", "0.5x40", { node: node! }),
    ]),
    expect: [
      ...records("gpu:device_replicas:count", [[gpuLabels(), 2]], "29h"),
      ...records(
        "gpu:device_replicas:count",
        [
          [gpuLabels(), 2],
          [gpuLabels({ node: "node-3" }), 2],
        ],
        "30h",
      ),
    ],
  },
  {
    name: "a device that several pods hold has a replica for each of them",
    input: [holder(), holder({ gpu: 1 }), holder({ gpu: 1, labels: { pod: "train-1" } })],
    expect: records("gpu:device_replicas:count", [[gpuLabels({ gpu: 1 }), 2]], "5m"),
  },
  {
    name: "a device that an exporter marks as shared has one replica if no other source has the number",
    input: [BASE_UNITS, ...TOLD.map((of) => known(of)), ...utilizations(0.5, { vgpu: "0" })],
    expect: records(
      "gpu:device_replicas:count",
      TOLD.map((of) => [gpuLabels(of), 1] as const),
      "5m",
    ),
  },
  ...[
    { way: "exported labels", labels: { exported_namespace: "ml", exported_pod: "train-0" } },
    { way: "the old labels", labels: { pod_namespace: "ml", pod_name: "train-0" } },
    { way: "honored labels", labels: POD },
  ].map(({ way, labels }): RuleCase => ({
    name: `the activity of a pod's own processes is read from ${way}, also if the shared device has a value for all pods`,
    input: [
      BASE_UNITS,
      ...TOLD_OF_PROCESSES.map((of) => known(of)),
      ...TOLD_OF_PROCESSES.map((of) => ofGpu("gpu:device_replicas:count", "4x20", of)),
      ...utilizations(0.2, { ...labels, vgpu: "0" }),
      ...utilizations(0.6, {}),
      // A GPU that is not shared, and one of an exporter that repeats the device's value on each pod.
      known({ node: "node-3" }),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "20x20", { node: "node-3", labels: { ...labels, vgpu: "0" } }),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "60x20", { node: "node-3" }),
      known({ node: "node-4" }),
      ofGpu("gpu:device_replicas:count", "4x20", { node: "node-4" }),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "20x20", { node: "node-4", labels: { ...labels, vgpu: "0" } }),
      // A pod that uses more than its share.
      known({ node: "node-5" }),
      ofGpu("gpu:device_replicas:count", "4x20", { node: "node-5" }),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "30x20", { node: "node-5", labels: { ...labels, vgpu: "0" } }),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "60x20", { node: "node-5" }),
    ],
    expect: records(
      "gpu:pod_activity:ratio",
      [
        ...TOLD_OF_PROCESSES.map((of) => [{ ...gpuLabels(of), ...POD, shared: "true" }, 0.8] as const),
        [{ ...gpuLabels({ node: "node-5" }), ...POD, shared: "true" }, 1],
        [{ ...gpuLabels({ node: "node-3" }), ...POD }, 0.6],
      ],
      "5m",
    ),
  })),
  {
    name: "a pod is as active as a device that it has for itself",
    input: [
      ...GPUS.map((gpu) => holder({ gpu })),
      ofGpu("gpu:device_activity:ratio", "0.7x20"),
      ...[1, 2, 3].flatMap((gpu) => [
        ofGpu("gpu:device_activity:ratio", "0.9x20", { gpu }),
        ofGpu("gpu:device_replicas:count", "4x20", { gpu }),
      ]),
    ],
    expect: records("gpu:pod_activity:ratio", [[{ ...gpuLabels(), ...POD }, 0.7]], "5m"),
  },
  {
    name: "held shared devices without values of their processes are counted; free ones are not",
    input: [
      ...GPUS.map((gpu) => ofGpu("gpu:device_replicas:count", "4x20", { gpu })),
      ...[0, 1, 2].map((gpu) => holder({ gpu })),
      ofGpu("gpu:process_values:info", "1x20"),
    ],
    expect: records("node:gpus_without_process_values:count", [[{ node: "node-1" }, 2]], "5m"),
  },
];
