import { gives, records, type RuleCase } from "../../case.ts";
import { amd, dcgm, gpuLabels, known, series, type RawGpu } from "../../fleet.ts";

/** Temperatures in degrees, as `nvidia-smi -q -d TEMPERATURE` gives them for a model. */
const LIMITS: readonly {
  readonly model: string;
  readonly slowdown: number;
  readonly maxOperating?: number;
  readonly memory?: number;
}[] = [
  { model: "Tesla P100-PCIE-16GB", slowdown: 82 },
  { model: "Tesla V100-SXM2-32GB", slowdown: 87, maxOperating: 83 },
  { model: "Tesla T4", slowdown: 93, maxOperating: 85 },
  { model: "NVIDIA A10G", slowdown: 95, maxOperating: 88 },
  { model: "NVIDIA A100-SXM4-80GB", slowdown: 89, maxOperating: 85, memory: 95 },
];
const A100: RawGpu = { model: "NVIDIA A100-SXM4-80GB" };
const BASE_UNITS = series("exporter:base_units:info", "1x400", { instance: "node-2:9400" });

/** The recorded series of devices, from the exporters' series of known GPUs. */
export const DEVICE_CASES: readonly RuleCase[] = [
  {
    name: "a page in base units is not believed for an hour after a ratio above 1.01, and stays believed at 1.01",
    every: "1m",
    evaluate: "1m",
    input: [
      ["node-1", "1.01x100"],
      ["node-2", "1.05x9 0.5x100"],
      ["node-3", "0.95x100"],
    ].flatMap(([node, values]) => [
      series("DCGM_FI_DEV_SM_CLOCK_HERTZ", "1e9x100", { instance: node! }),
      series("DCGM_FI_DEV_GPU_UTIL_RATIO", values!, { instance: node! }),
    ]),
    expect: [
      ...gives(
        "count by (instance) (exporter:base_units:info)",
        { '{instance="node-1"}': 1, '{instance="node-3"}': 1 },
        "30m",
        "69m",
      ),
      ...gives("count(exporter:base_units:info)", { "{}": 3 }, "70m"),
    ],
  },
  {
    name: "a GPU that its page names in two ways is one",
    input: [
      dcgm("DCGM_FI_DEV_GPU_UTIL", "50x20", { labels: { modelName: "" } }),
      dcgm("DCGM_FI_DEV_GPU_TEMP", "50x20"),
    ],
    expect: gives("count(gpu:exporter_gpu:info)", { "{}": 1 }, "5m"),
  },
  {
    name: "each source of the activity of a GPU gives a part of at most 1",
    input: [
      BASE_UNITS,
      ...[0, 1, 2, 3, 4].map((gpu) => known({ gpu })),
      known({ node: "node-2" }),
      dcgm("DCGM_FI_PROF_SM_ACTIVE", "0.1x20"),
      dcgm("DCGM_FI_DEV_GPU_UTIL", "20x20", { gpu: 1 }),
      dcgm("DCGM_FI_DEV_GPU_UTIL_RATIO", "30x20", { gpu: 2 }),
      amd("amd_gpu_gfx_activity", "40x20", { gpu: 3 }),
      dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "1.005x20", { gpu: 4 }),
      dcgm("DCGM_FI_DEV_GPU_UTIL_RATIO", "0.5x20", { node: "node-2" }),
    ],
    expect: records(
      "gpu:device_activity:ratio",
      [
        ...[0.1, 0.2, 0.3, 0.4, 1].map((value, gpu) => [gpuLabels({ gpu }), value] as const),
        [gpuLabels({ node: "node-2" }), 0.5],
      ],
      "5m",
    ),
  },
  {
    name: "the temperatures that a model may have are those of its data sheet",
    input: LIMITS.map(({ model }, gpu) => known({ gpu, model })),
    expect: [
      { record: "gpu:slowdown_temperature:celsius", of: LIMITS.map(({ slowdown }) => slowdown) },
      { record: "gpu:max_operating_temperature:celsius", of: LIMITS.map(({ maxOperating }) => maxOperating) },
      { record: "gpu:memory_max_operating_temperature:celsius", of: LIMITS.map(({ memory }) => memory) },
    ].flatMap(({ record, of }) =>
      records(
        record,
        of.flatMap((celsius, gpu) =>
          celsius === undefined ? [] : [[{ ...gpuLabels({ gpu }), limit: "model" }, celsius] as const],
        ),
        "5m",
      ),
    ),
  },
  {
    name: "a GPU's own limit counts before its model's, but a limit of 0 is none",
    input: [
      known(A100),
      known({ ...A100, gpu: 1 }),
      ...["DCGM_FI_DEV_SLOWDOWN_TEMP", "DCGM_FI_DEV_GPU_MAX_OP_TEMP", "DCGM_FI_DEV_MEM_MAX_OP_TEMP"].flatMap((name) => [
        dcgm(name, "1x20"),
        dcgm(name, "0x20", { gpu: 1 }),
      ]),
    ],
    expect: [
      ["gpu:slowdown_temperature:celsius", 89] as const,
      ["gpu:max_operating_temperature:celsius", 85] as const,
      ["gpu:memory_max_operating_temperature:celsius", 95] as const,
    ].flatMap(([record, ofModel]) =>
      records(
        record,
        [
          [{ ...gpuLabels(), limit: "own" }, 1],
          [{ ...gpuLabels({ gpu: 1 }), limit: "model" }, ofModel],
        ],
        "5m",
      ),
    ),
  },
  {
    name: "the margin of a GPU is its limit minus its temperature, or its own counter if the counter moves; the margin of a node is its lowest margin",
    input: [
      ...[0, 1, 2, 3, 4].map((gpu) => known({ gpu })),
      ...(
        [
          ["gpu:slowdown_temperature:celsius", 90, { gpu: 0, labels: { limit: "own" } }],
          ["gpu:slowdown_temperature:celsius", 90, { gpu: 3, labels: { limit: "model" } }],
          ["gpu:temperature:celsius", 60, { gpu: 0 }],
          ["gpu:temperature:celsius", 60, { gpu: 1 }],
          ["gpu:temperature_margin:celsius", 5, { gpu: 0 }],
          ["gpu:temperature_margin:celsius", 10, { gpu: 1 }],
          ["gpu:temperature_margin:celsius", 1, { gpu: 2 }],
          ["gpu:temperature_margin_stuck:info", 1, { gpu: 2 }],
          ["gpu:temperature_margin:celsius", 20, { gpu: 3 }],
        ] as const
      ).map(([record, value, { labels = {}, ...of }]: readonly [string, number, RawGpu]) =>
        series(record, `${value}x20`, { ...gpuLabels(of), ...labels }),
      ),
    ],
    expect: [
      ...records(
        "gpu:temperature_left:celsius",
        [
          [gpuLabels(), 30],
          [gpuLabels({ gpu: 1 }), 12],
          [gpuLabels({ gpu: 3 }), 22],
        ],
        "5m",
      ),
      ...records("node:temperature_left:min", [[{ node: "node-1" }, 12]], "5m"),
    ],
  },
  {
    name: "nodes are counted by how many degrees they have left at most, as Prometheus has histograms",
    input: [0, 5, 10, 15, 20, 25, 30, 35, 40, 50].flatMap((bound) =>
      [bound, bound + 0.5].map((left) => series("node:temperature_left:min", `${left}x20`, { node: `node-${left}` })),
    ),
    expect: records(
      "cluster:nodes_by_temperature_left:count",
      [
        ...["0", "5", "10", "15", "20", "25", "30", "35", "40", "50"].map(
          (le, place) => [{ le }, 2 * place + 1] as const,
        ),
        [{ le: "+Inf" }, 20],
      ],
      "5m",
    ),
  },
  {
    name: "the lowest margin of a node in five minutes is kept",
    input: [series("node:temperature_left:min", "20x15 12 20x30", { node: "node-1" })],
    expect: [
      ...records("node:temperature_left:min5m", [[{ node: "node-1" }, 20]], "7m", "18m"),
      ...records("node:temperature_left:min5m", [[{ node: "node-1" }, 12]], "12m"),
    ],
  },
  {
    name: "a memory's temperature of 0 is none",
    input: [
      ...[0, 1, 2, 3].map((gpu) => known({ gpu })),
      dcgm("DCGM_FI_DEV_MEMORY_TEMP", "0x20"),
      dcgm("DCGM_FI_DEV_MEMORY_TEMP", "1x20", { gpu: 1 }),
      amd("gpu_memory_temperature", "0x20", { gpu: 2 }),
      amd("gpu_memory_temperature", "1x20", { gpu: 3 }),
    ],
    expect: records(
      "gpu:memory_temperature:celsius",
      [1, 3].map((gpu) => [gpuLabels({ gpu }), 1] as const),
      "5m",
    ),
  },
  {
    name: "memory is in bytes, whatever an exporter counts it in",
    input: [
      ...[0, 1, 2].map((gpu) => known({ gpu })),
      dcgm("DCGM_FI_DEV_FB_USED_BYTES", "7x20"),
      dcgm("DCGM_FI_DEV_FB_FREE_BYTES", "21x20"),
      dcgm("DCGM_FI_DEV_FB_USED", "2x20", { gpu: 1 }),
      dcgm("DCGM_FI_DEV_FB_FREE", "3x20", { gpu: 1 }),
      amd("gpu_used_vram", "3x20", { gpu: 2 }),
      amd("gpu_free_vram", "3x20", { gpu: 2 }),
    ],
    expect: [
      ...records(
        "gpu:memory_used:bytes",
        [7, 2 * 2 ** 20, 3e6].map((value, gpu) => [gpuLabels({ gpu }), value] as const),
        "5m",
      ),
      ...records(
        "gpu:memory_used:ratio",
        [0.25, 0.4, 0.5].map((value, gpu) => [gpuLabels({ gpu }), value] as const),
        "5m",
      ),
    ],
  },
];
