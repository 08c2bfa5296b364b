import { gives, type Expectation, type InputSeries, type RuleCase } from "../case.ts";
import { series } from "../fleet.ts";

const EXPORTER_POD = { namespace: "gpu-operator", pod: "nvidia-dcgm-exporter-x7k2p" } as const;
const TARGET = { job: "dcgm-exporter", instance: "10.0.0.1:9400" } as const;
const UP = series("up", "1x60", { ...TARGET, ...EXPORTER_POD });
const constant = (name: string, value: number | string, labels: Readonly<Record<string, string>>): InputSeries =>
  series(name, `${value}x60`, { ...TARGET, ...labels });

/** The rules' results for a GPU of node-1 that pod ml/train-0 holds: the same for every dialect. */
function seen(values: {
  readonly activity?: number;
  readonly memory?: number;
  readonly temperature?: number;
  readonly instance?: string;
  readonly uuid?: string;
}): readonly Expectation[] {
  const { activity, memory, temperature, instance, uuid = "GPU-1" } = values;
  const gpu = `UUID="${uuid}"`;
  const device = instance === undefined ? gpu : `GPU_I_ID="${instance}", ${gpu}`;
  const told = (record: string, labels: string, value: number | undefined): readonly Expectation[] =>
    value === undefined ? [] : gives(record, { [`${record}{${labels}}`]: value }, "20m");
  return [
    ...told("gpu:device_activity:ratio", `${device}, node="node-1"`, activity),
    ...told("gpu:pod_activity:ratio", `${device}, namespace="ml", node="node-1", pod="train-0"`, activity),
    ...told("gpu:memory_used:ratio", `${device}, node="node-1"`, memory),
    ...told("gpu:temperature:celsius", `${gpu}, node="node-1"`, temperature),
  ];
}

const POD = { namespace: "ml", pod: "train-0" } as const;

/** The mapping of exporters' names: each exporter's form of a value, and its traps. */
export const DIALECT_CASES: readonly RuleCase[] = [
  {
    name: "dcgm-exporter 4.8 with honored labels; a free GPU with the label of the exporter's pod has no holder",
    input: [
      UP,
      ...["0", "1"].flatMap((gpu) => {
        const labels = {
          gpu,
          UUID: `GPU-${1 + Number(gpu)}`,
          modelName: "NVIDIA H100",
          Hostname: "node-1",
          ...(gpu === "0" ? POD : EXPORTER_POD),
        };
        return [
          constant("DCGM_FI_PROF_GR_ENGINE_ACTIVE", gpu === "0" ? 0.5 : 0, labels),
          constant("DCGM_FI_DEV_GPU_UTIL", gpu === "0" ? 60 : 0, labels),
        ];
      }),
    ],
    expect: [
      ...gives(
        "gpu:device_holder:info",
        { 'gpu:device_holder:info{UUID="GPU-1", namespace="ml", node="node-1", pod="train-0"}': 1 },
        "20m",
      ),
      ...gives(
        "gpu:pod_activity:ratio",
        { 'gpu:pod_activity:ratio{UUID="GPU-1", namespace="ml", node="node-1", pod="train-0"}': 0.6 },
        "20m",
      ),
      ...gives("node:gpus_held:count", { 'node:gpus_held:count{node="node-1"}': 1 }, "20m"),
    ],
  },
  {
    name: "a ServiceMonitor's defaults: the workload is exported_pod, and pod is the exporter's own on every series",
    input: [
      UP,
      ...["GPU-1", "GPU-2"].map((UUID, gpu) =>
        constant("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0.25, {
          gpu: String(gpu),
          UUID,
          Hostname: "node-1",
          ...EXPORTER_POD,
          ...(gpu === 0 ? { exported_namespace: "ml", exported_pod: "train-0" } : {}),
        }),
      ),
    ],
    expect: gives(
      "gpu:pod_activity:ratio",
      { 'gpu:pod_activity:ratio{UUID="GPU-1", namespace="ml", node="node-1", pod="train-0"}': 0.25 },
      "20m",
    ),
  },
  {
    name: "an exporter of another name is known by its own target",
    input: [
      series("up", "1x60", { job: "my-dcgm-exporter", instance: "10.0.0.1:9400", namespace: "mon", pod: "gpustats-1" }),
      constant("DCGM_FI_DEV_GPU_UTIL", 10, {
        gpu: "0",
        UUID: "GPU-1",
        Hostname: "node-1",
        namespace: "mon",
        pod: "gpustats-1",
      }),
    ],
    expect: gives("gpu:device_holder:info", {}, "20m"),
  },
  {
    name: "dcgm-exporter 2.x: no model, no profiling counters, only utilization in percent",
    input: [
      constant("DCGM_FI_DEV_GPU_UTIL", 40, { gpu: "0", UUID: "GPU-1", Hostname: "node-1", ...POD }),
      constant("DCGM_FI_DEV_FB_USED", 300, { gpu: "0", UUID: "GPU-1", Hostname: "node-1", ...POD }),
      constant("DCGM_FI_DEV_FB_FREE", 100, { gpu: "0", UUID: "GPU-1", Hostname: "node-1", ...POD }),
      constant("DCGM_FI_DEV_GPU_TEMP", 55, { gpu: "0", UUID: "GPU-1", Hostname: "node-1", ...POD }),
    ],
    expect: seen({ activity: 0.4, memory: 0.75, temperature: 55 }),
  },
  {
    name: "the old namespace: uuid, pod_name, pod_namespace and 1.x names, the node from the target",
    input: [
      ["dcgm_gpu_utilization", 30],
      ["dcgm_fb_used", 10],
      ["dcgm_fb_free", 30],
      ["dcgm_gpu_temp", 61],
    ].map(([name, value]) =>
      constant(String(name), value!, {
        gpu: "0",
        uuid: "GPU-1",
        node: "node-1",
        Hostname: "dcgm-exporter-abcde",
        ...EXPORTER_POD,
        pod_namespace: "ml",
        pod_name: "train-0",
      }),
    ),
    expect: seen({ activity: 0.3, memory: 0.25, temperature: 61 }),
  },
  {
    name: "dcgm-exporter 4.9 on DCGM 4.7: base units, hostname in lower case, ratios that are ratios",
    input: [
      ["DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", 0.2],
      ["DCGM_FI_DEV_GPU_UTIL_RATIO", 0.7],
      ["DCGM_FI_DEV_SM_CLOCK_HERTZ", "1.98e9"],
      ["DCGM_FI_DEV_FB_USED_BYTES", "6e10"],
      ["DCGM_FI_DEV_FB_FREE_BYTES", "2e10"],
      ["DCGM_FI_DEV_GPU_TEMP_CELSIUS", 64],
    ].map(([name, value]) => constant(String(name), value!, { gpu: "0", UUID: "GPU-1", hostname: "node-1", ...POD })),
    expect: seen({ activity: 0.7, memory: 0.75, temperature: 64 }),
  },
  {
    name: "a ratio that is a percent: DCGM 4.6 under the new name, by the names beside it, or by a value above 1",
    input: [
      constant("DCGM_FI_DEV_GPU_UTIL_RATIO", 1, { gpu: "0", UUID: "GPU-1", Hostname: "node-1", ...POD }),
      constant("DCGM_FI_DEV_SM_CLOCK", 1980, { gpu: "0", UUID: "GPU-1", Hostname: "node-1", ...POD }),
      ...["GPU-3", "GPU-4"].flatMap((UUID, gpu) => {
        const labels = { instance: "10.0.0.3:9400", gpu: String(gpu), UUID, Hostname: "node-3" };
        return [
          constant("DCGM_FI_DEV_GPU_UTIL_RATIO", gpu === 0 ? 80 : 1, labels),
          constant("DCGM_FI_DEV_SM_CLOCK_HERTZ", 1980, labels),
        ];
      }),
    ],
    expect: gives(
      "gpu:device_activity:ratio",
      {
        'gpu:device_activity:ratio{UUID="GPU-1", node="node-1"}': 0.01,
        'gpu:device_activity:ratio{UUID="GPU-3", node="node-3"}': 0.8,
        'gpu:device_activity:ratio{UUID="GPU-4", node="node-3"}': 0.01,
      },
      "20m",
    ),
  },
  {
    name: "AMD's exporter: percents, megabytes, its own labels in either case, with and without the prefix",
    input: [
      ...[
        ["gpu_gfx_activity", 45],
        ["gpu_usage", 12],
        ["gpu_used_vram", 150_000],
        ["gpu_free_vram", 50_000],
        ["gpu_junction_temperature", 70],
        ["gpu_edge_temperature", 60],
      ].map(([name, value]) =>
        constant(String(name), value!, {
          gpu_id: "0",
          gpu_uuid: "GPU-1",
          hostname: "node-1",
          gpu_partition_id: "2",
          card_series: "AMD INSTINCT MI300X",
          ...POD,
        }),
      ),
      constant("amd_gpu_gfx_activity", 20, {
        instance: "10.0.0.2:5000",
        GPU_ID: "3",
        GPU_UUID: "GPU-2",
        HOSTNAME: "node-2",
      }),
    ],
    expect: [
      ...seen({ memory: 0.75, temperature: 70, instance: "2" }),
      ...gives(
        "gpu:device_activity:ratio",
        {
          'gpu:device_activity:ratio{GPU_I_ID="2", UUID="GPU-1", node="node-1"}': 0.45,
          'gpu:device_activity:ratio{UUID="GPU-2", node="node-2"}': 0.2,
        },
        "20m",
      ),
    ],
  },
  {
    name: "AMD's virtual functions, whose UUID is all zeroes, are separated by their number",
    input: ["0", "1"].map((gpu_id) =>
      constant("amd_gpu_gfx_activity", gpu_id === "0" ? 10 : 20, {
        gpu_id,
        gpu_uuid: "00000000-0000-0000-0000-000000000000",
        hostname: "node-1",
      }),
    ),
    expect: gives(
      "gpu:device_activity:ratio",
      {
        'gpu:device_activity:ratio{UUID="0", node="node-1"}': 0.1,
        'gpu:device_activity:ratio{UUID="1", node="node-1"}': 0.2,
      },
      "20m",
    ),
  },
  {
    name: "MIG: each instance is a device, a value of the whole GPU counts once, and a GPU without MIG is one device",
    input: [
      ...["1", "2"].flatMap((instance, index) => {
        const labels = {
          gpu: "0",
          UUID: "GPU-1",
          GPU_I_ID: instance,
          GPU_I_PROFILE: "3g.40gb",
          Hostname: "node-1",
          namespace: "ml",
          pod: `pod-${instance}`,
        };
        return [
          constant("DCGM_FI_PROF_GR_ENGINE_ACTIVE", [0.9, 0][index]!, labels),
          constant("DCGM_FI_DEV_GPU_UTIL", 0, labels),
          constant("DCGM_FI_DEV_GPU_TEMP", [60, 61][index]!, labels),
        ];
      }),
      constant("DCGM_FI_PROF_SM_ACTIVE", 0.4, { gpu: "1", UUID: "GPU-2", Hostname: "node-1" }),
      constant("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0.3, { gpu: "1", UUID: "GPU-2", Hostname: "node-1" }),
    ],
    expect: [
      ...gives(
        "gpu:device_activity:ratio",
        {
          'gpu:device_activity:ratio{GPU_I_ID="1", UUID="GPU-1", node="node-1"}': 0.9,
          'gpu:device_activity:ratio{GPU_I_ID="2", UUID="GPU-1", node="node-1"}': 0,
          'gpu:device_activity:ratio{UUID="GPU-2", node="node-1"}': 0.4,
        },
        "20m",
      ),
      ...gives("gpu:temperature:celsius", { 'gpu:temperature:celsius{UUID="GPU-1", node="node-1"}': 61 }, "20m"),
      ...gives("node:gpus:count", { 'node:gpus:count{node="node-1"}': 2 }, "20m"),
      ...gives("node:gpu_devices:count", { 'node:gpu_devices:count{node="node-1"}': 3 }, "20m"),
      ...gives(
        "gpu:pod_activity:ratio",
        {
          'gpu:pod_activity:ratio{GPU_I_ID="1", UUID="GPU-1", namespace="ml", node="node-1", pod="pod-1"}': 0.9,
          'gpu:pod_activity:ratio{GPU_I_ID="2", UUID="GPU-1", namespace="ml", node="node-1", pod="pod-2"}': 0,
        },
        "20m",
      ),
    ],
  },
  ...(["honored", "exported", "base-units"] as const).map((kind): RuleCase => {
    const own = { gpu: "0", UUID: "GPU-1", Hostname: "node-1" };
    const util = kind === "base-units" ? "DCGM_FI_DEV_GPU_UTIL_RATIO" : "DCGM_FI_DEV_GPU_UTIL";
    const scale = kind === "base-units" ? 0.01 : 1;
    const ofPod = (pod: string): Record<string, string> =>
      kind === "exported" ? { ...EXPORTER_POD, exported_namespace: "ml", exported_pod: pod } : { namespace: "ml", pod };
    return {
      name: `per-process utilization of pods that share a GPU, ${kind}`,
      input: [
        UP,
        constant(util, 60 * scale, { ...own, ...(kind === "exported" ? EXPORTER_POD : {}) }),
        constant(kind === "base-units" ? "DCGM_FI_DEV_SM_CLOCK_HERTZ" : "DCGM_FI_DEV_SM_CLOCK", "1.9e9", own),
        constant(util, 40 * scale, { ...own, ...ofPod("a"), vgpu: "0" }),
        constant(util, 20 * scale, { ...own, ...ofPod("b"), vgpu: "1" }),
      ],
      expect: [
        ...gives(
          "gpu:pod_activity:ratio",
          {
            'gpu:pod_activity:ratio{UUID="GPU-1", namespace="ml", node="node-1", pod="a", shared="true"}': 0.8,
            'gpu:pod_activity:ratio{UUID="GPU-1", namespace="ml", node="node-1", pod="b", shared="true"}': 0.4,
          },
          "20m",
        ),
        ...gives("gpu:device_replicas:count", { 'gpu:device_replicas:count{UUID="GPU-1", node="node-1"}': 2 }, "20m"),
      ],
    };
  }),
  {
    name: "values that can't be true are left out: a utilization above a hundred, DCGM's words for no value",
    input: [
      constant("DCGM_FI_DEV_GPU_UTIL", 4_294_967_295, { gpu: "0", UUID: "GPU-1", Hostname: "node-1" }),
      constant("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 1.005, { gpu: "0", UUID: "GPU-1", Hostname: "node-1" }),
      constant("DCGM_FI_DEV_FB_USED", 2_147_483_632, { gpu: "0", UUID: "GPU-1", Hostname: "node-1" }),
      constant("DCGM_FI_DEV_FB_FREE", 100, { gpu: "0", UUID: "GPU-1", Hostname: "node-1" }),
      constant("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "140737488355328", { gpu: "1", UUID: "GPU-2", Hostname: "node-1" }),
    ],
    expect: [
      ...gives("gpu:device_activity:ratio", { 'gpu:device_activity:ratio{UUID="GPU-1", node="node-1"}': 1 }, "20m"),
      ...gives("gpu:memory_used:ratio", {}, "20m"),
    ],
  },
  {
    name: "a label that flips and an exporter that restarts leave one series of each GPU",
    input: [
      series("DCGM_FI_DEV_GPU_UTIL", "50x19 stale", { ...TARGET, gpu: "0", UUID: "GPU-1", Hostname: "node-1", ...POD }),
      series("DCGM_FI_DEV_GPU_UTIL", "_x20 50x60", {
        ...TARGET,
        instance: "10.0.0.9:9400",
        gpu: "0",
        UUID: "GPU-1",
        hostname: "node-1",
        modelName: "NVIDIA H100",
        pod_uid: "u1",
        ...POD,
      }),
    ],
    expect: [
      ...gives(
        "gpu:device_activity:ratio",
        { 'gpu:device_activity:ratio{UUID="GPU-1", node="node-1"}': 0.5 },
        "5m",
        "10m",
        "20m",
      ),
      ...gives(
        "count_over_time(gpu:pod_activity:ratio[15m])",
        { '{UUID="GPU-1", namespace="ml", node="node-1", pod="train-0"}': 31 },
        "20m",
      ),
    ],
  },
];
