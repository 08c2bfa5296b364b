import { gives, records, type RuleCase } from "../../case.ts";
import { amd, dcgm, gpuLabels, known, series, type RawGpu } from "../../fleet.ts";

/** Values of DCGM's field 112, each with its reasons among those that the rules distinguish. */
const MASKS: readonly (readonly [mask: number, ...reasons: readonly string[]])[] = [
  [0x1f],
  [0x20, "sw_thermal"],
  [0x3f, "sw_thermal"],
  [0x40, "hw_thermal"],
  [0x60, "hw_thermal", "sw_thermal"],
  [0x7f, "hw_thermal", "sw_thermal"],
  [0x80, "power_brake"],
  [0xa0, "power_brake", "sw_thermal"],
  [0xc0, "power_brake", "hw_thermal"],
  [0xff, "power_brake", "hw_thermal", "sw_thermal"],
  [0x100],
  [0x180, "power_brake"],
];

/** Exporters' counters and text values of faults, each with the recorded series that shows the fault. */
const TOLD: readonly { readonly record: string; readonly raw: string; readonly labels?: Record<string, string> }[] = [
  { record: "gpu:ecc_double_bit_errors:count", raw: "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL" },
  { record: "gpu:ecc_double_bit_errors:count", raw: "amd_gpu_ecc_uncorrect_total" },
  { record: "gpu:row_remap_failure:info", raw: "DCGM_FI_DEV_ROW_REMAP_FAILURE" },
  { record: "gpu:memory_repair_pending:info", raw: "DCGM_FI_DEV_ROW_REMAP_PENDING" },
  { record: "gpu:memory_repair_pending:info", raw: "DCGM_FI_DEV_RETIRED_PENDING" },
  { record: "gpu:health:status", raw: "DCGM_EXP_GPU_HEALTH_STATUS" },
  { record: "gpu:hw_thermal_events:count", raw: "DCGM_EXP_CLOCK_EVENTS_COUNT", labels: { clock_event: "hw_thermal" } },
];

/** The exporters' counters of energy, in joules, millijoules and microjoules. */
const ENERGY = [
  { counter: "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL", give: dcgm },
  { counter: "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", give: dcgm },
  { counter: "amd_gpu_energy_consumed", give: amd },
] as const;

/** Every form of a GPU's utilization, with its profiling counter. */
const UTILIZATIONS = [
  { node: "percent", counter: "DCGM_FI_PROF_GR_ENGINE_ACTIVE", raw: "DCGM_FI_DEV_GPU_UTIL", scale: 100, give: dcgm },
  { node: "ratio", counter: "DCGM_FI_PROF_GR_ENGINE_ACTIVE", raw: "DCGM_FI_DEV_GPU_UTIL_RATIO", scale: 1, give: dcgm },
  { node: "old", counter: "DCGM_FI_PROF_GR_ENGINE_ACTIVE", raw: "DCGM_FI_DEV_GPU_UTIL_RATIO", scale: 100, give: dcgm },
  { node: "amd", counter: "gpu_gfx_activity", raw: "gpu_usage", scale: 100, give: amd },
] as const;

const temperature = (values: string, of: RawGpu = {}) => series("gpu:temperature:celsius", values, gpuLabels(of));

/** The recorded series of faults, from the exporters' series of known GPUs. */
export const FAULT_CASES: readonly RuleCase[] = [
  {
    name: "each reason to hold clocks down is a bit, whatever the others are",
    input: MASKS.flatMap(([mask], gpu) => [
      known({ gpu }),
      dcgm("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", `${mask}x20`, { gpu }),
    ]),
    expect: [
      ...records(
        "gpu:throttle_reason:info",
        MASKS.flatMap(([, ...reasons], gpu) =>
          reasons.map((reason) => [{ ...gpuLabels({ gpu }), reason }, 1] as const),
        ),
        "5m",
      ),
      ...records(
        "gpu:throttle_reasons:mask",
        MASKS.flatMap(([mask], gpu) => (mask < 0x20 ? [] : [[gpuLabels({ gpu }), mask] as const])),
        "5m",
      ),
    ],
  },
  ...TOLD.map(({ record, raw, labels = {} }): RuleCase => ({
    name: `${record} stands where ${raw} is above 0 alone`,
    input: ["0x20", "1x20"].flatMap((values, gpu) => [
      known({ gpu }),
      (raw.startsWith("amd") ? amd : dcgm)(raw, values, { gpu, labels }),
    ]),
    expect: records(record, [[gpuLabels({ gpu: 1 }), 1]], "5m"),
  })),
  {
    name: "one recovery of NVLink is seen for a quarter of an hour, and none is nothing",
    input: [
      known(),
      dcgm("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "7x39 8x100"),
      known({ gpu: 1 }),
      dcgm("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "7x140", { gpu: 1 }),
    ],
    expect: [
      ...records("gpu:nvlink_recovery_errors:increase15m", [], "19m30s", "35m"),
      ...records("gpu:nvlink_recovery_errors:increase15m", [[gpuLabels(), 1]], "20m", "34m30s"),
    ],
  },
  ...[
    { record: "gpu:nvlink_crc_errors:rate5m", raw: "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", give: dcgm },
    { record: "gpu:nvlink_crc_errors:rate5m", raw: "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", give: dcgm },
    { record: "gpu:pcie_replays:rate5m", raw: "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", give: dcgm },
    { record: "gpu:pcie_replays:rate5m", raw: "pcie_replay_count", give: amd },
  ].map(({ record, raw, give }): RuleCase => ({
    name: `${record} is the growth of ${raw} within five minutes, per second, where it grew`,
    input: [known(), give(raw, "0+3x40 120x60"), known({ gpu: 1 }), give(raw, "7x100", { gpu: 1 })],
    expect: [...records(record, [[gpuLabels(), 0.1]], "10m", "20m"), ...records(record, [], "25m")],
  })),
  ...ENERGY.map(({ counter, give }): RuleCase => ({
    name: `a GPU is frozen if its ${counter} is not always 0 and has not moved for 15 min`,
    input: [
      ...[0, 1, 2].flatMap((gpu) => [known({ gpu }), temperature("50x100", { gpu })]),
      give(counter, "0x9 1x100"),
      give(counter, "0x100", { gpu: 1 }),
      // One change within the window is enough for the counter to count as live.
      give(counter, "5x29 6x29 7x29 8x29 9x29", { gpu: 2 }),
    ],
    expect: [
      ...records("gpu:telemetry_frozen:info", [], "19m30s"),
      ...records("gpu:telemetry_frozen:info", [[gpuLabels(), 1]], "20m", "40m"),
    ],
  })),
  {
    name: "a GPU is frozen only if it was there a quarter of an hour ago, or just before",
    input: [known(), dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "1000x100"), temperature("50x20 _x20 50x100")],
    expect: [
      ...records("gpu:telemetry_frozen:info", [[gpuLabels(), 1]], "25m", "26m"),
      ...records("gpu:telemetry_frozen:info", [], "27m30s", "35m"),
      ...records("gpu:telemetry_frozen:info", [[gpuLabels(), 1]], "35m30s"),
    ],
  },
  ...UTILIZATIONS.map(({ node, counter, raw, scale, give }): RuleCase => ({
    name: `${counter} is stuck where it is 0 for a quarter of an hour while ${raw} (${node}) averages over half`,
    input: [
      series("exporter:base_units:info", "1x100", { instance: "ratio:9400" }),
      ...[0, 1, 2].map((gpu) => known({ node, gpu })),
      give(counter, "0.6x9 0x100", { node }),
      give(raw, `0x9 ${0.51 * scale}x100`, { node }),
      give(counter, "0x100", { node, gpu: 1 }),
      give(raw, `${0.5 * scale}x100`, { node, gpu: 1 }),
      give(counter, "0.001x100", { node, gpu: 2 }),
      give(raw, `${scale}x100`, { node, gpu: 2 }),
    ],
    expect: [
      ...records("gpu:profiling_stuck:info", [], "19m30s"),
      ...records("gpu:profiling_stuck:info", [[gpuLabels({ node }), 1]], "20m", "30m"),
    ],
  })),
  {
    name: "the rows of a GPU's memory that were remapped within a day are those that came, not those of before",
    every: "30m",
    evaluate: "30m",
    input: [
      ...[0, 1, 2].map((gpu) => known({ gpu })),
      dcgm("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "0x9 1x100"),
      dcgm("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "0x100", { gpu: 1 }),
      dcgm("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "5x100", { gpu: 2 }),
    ],
    expect: [
      ...gives("gpu:uncorrectable_remapped_rows:increase1d", {}, "4h30m", "29h"),
      ...records("gpu:uncorrectable_remapped_rows:increase1d", [[gpuLabels(), 1]], "5h", "28h"),
    ],
  },
];
