import { fires, gives, silent, type ExpectedAlert, type RuleCase } from "../case.ts";
import { dcgm, gpuLabels, gpuPlace, type RawGpu } from "../fleet.ts";

const A100 = "NVIDIA A100-SXM4-80GB";

function alert(
  severity: "critical" | "warning",
  description: string,
  of: RawGpu = {},
  model = "NVIDIA H100 80GB HBM3",
): ExpectedAlert {
  return {
    labels: { ...gpuLabels(of), severity, notify: severity === "critical" ? "page" : "ticket" },
    annotations: { description: `${gpuPlace(of)}${description}`, gpu: `0 (${model})`, held_by: "" },
  };
}

const temperature = (values: string, of: RawGpu = {}) => dcgm("DCGM_FI_DEV_GPU_TEMP", values, of);
const reasons = (values: string) => [temperature("60x200"), dcgm("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", values)];

/** A GPU whose temperature limit is unknown: here, an L4. */
const L4: RawGpu = { model: "NVIDIA L4" };

/** Heat and power. */
export const THERMAL_CASES: readonly RuleCase[] = [
  {
    name: "HighGPUTemperature fires above 85 °C after five minutes where no limit is known, and ends two hours after the heat",
    input: [temperature("70x9 86x20 70x300", L4)],
    expect: [
      ...silent("HighGPUTemperature", "4m", "5m", "9m30s", "2h16m"),
      ...fires("HighGPUTemperature", alert("warning", "86 °C.", L4, "NVIDIA L4"), "10m", "2h14m"),
    ],
  },
  {
    name: "HighGPUTemperature is silent at exactly 85 °C, and in heat of less than five minutes",
    input: [temperature("85x60 90x9 60x20", L4)],
    expect: silent("HighGPUTemperature", "10m", "30m", "35m", "36m"),
  },
  {
    name: "HighGPUTemperature holds a V100 to its highest operating temperature, 83 °C",
    input: [
      temperature("84x40", { model: "Tesla V100-SXM2-32GB" }),
      temperature("83x40", { node: "node-2", model: "Tesla V100-SXM2-32GB" }),
    ],
    expect: [
      ...silent("HighGPUTemperature", "4m30s"),
      ...fires("HighGPUTemperature", alert("warning", "84 °C.", {}, "Tesla V100-SXM2-32GB"), "5m"),
    ],
  },
  {
    name: "HighGPUTemperature leaves GPUs to their own limit and their own margin",
    input: [
      temperature("95x40", L4),
      dcgm("DCGM_FI_DEV_SLOWDOWN_TEMP", "110x40", L4),
      temperature("95x40", { node: "node-2" }),
      dcgm("DCGM_FI_DEV_GPU_TEMP_LIMIT", "20x40", { node: "node-2" }),
    ],
    expect: silent("HighGPUTemperature", "10m"),
  },
  {
    name: "HighGPUTemperature fires by the temperature where the margin never moved",
    input: [temperature("99x40", L4), dcgm("DCGM_FI_DEV_GPU_TEMP_LIMIT", "0x40", L4)],
    expect: fires("HighGPUTemperature", alert("warning", "99 °C.", L4, "NVIDIA L4"), "10m"),
  },
  {
    name: "a model is a word of its own: an RTX A1000 is no A100, and a T400 no T4",
    input: ["NVIDIA RTX A1000", "NVIDIA T400 4GB", "Tesla T4"].map((model, gpu) =>
      temperature("50x20", { gpu, model }),
    ),
    expect: gives(
      "gpu:slowdown_temperature:celsius",
      { 'gpu:slowdown_temperature:celsius{UUID="GPU-node-1-2", limit="model", node="node-1"}': 93 },
      "5m",
    ),
  },
  {
    name: "HighGPUTemperature takes DCGM's words for no value for none",
    input: [temperature("2147483632x40", L4), temperature("9223372036854775794x40", { node: "node-2", ...L4 })],
    expect: silent("HighGPUTemperature", "10m"),
  },
  {
    name: "GPUNearSlowdownTemperature fires four degrees below the GPU's own slowdown temperature, and for two hours more",
    input: [temperature("82x20 83x20 82x300", L4), dcgm("DCGM_FI_DEV_SLOWDOWN_TEMP", "87x340", L4)],
    expect: [
      ...silent("GPUNearSlowdownTemperature", "10m", "15m", "2h22m"),
      ...fires(
        "GPUNearSlowdownTemperature",
        alert("warning", "83 °C, a few degrees below the slowdown temperature of this GPU.", L4, "NVIDIA L4"),
        "15m30s",
        "2h19m",
      ),
    ],
  },
  {
    name: "GPUNearSlowdownTemperature knows an A100's slowdown temperature, 89 °C",
    input: [temperature("85x20", { model: A100 }), temperature("84x20", { node: "node-2", model: A100 })],
    expect: fires(
      "GPUNearSlowdownTemperature",
      alert("warning", "85 °C, a few degrees below the slowdown temperature of this GPU.", {}, A100),
      "10m",
    ),
  },
  {
    name: "GPUThermalMarginLow fires at three degrees of a margin that lives, and for two hours more",
    input: [temperature("60x340"), dcgm("DCGM_FI_DEV_GPU_TEMP_LIMIT", "30x19 3x19 4x300")],
    expect: [
      ...silent("GPUThermalMarginLow", "9m30s", "14m30s", "2h21m"),
      ...fires(
        "GPUThermalMarginLow",
        alert("warning", "3 °C are left to the thermal limit of this GPU."),
        "15m",
        "2h18m",
      ),
    ],
  },
  {
    name: "thermal margins that were never above five do not count",
    input: [temperature("60x80"), dcgm("DCGM_FI_DEV_GPU_TEMP_LIMIT", "5x10 -5x60")],
    expect: [...silent("GPUThermalMarginLow", "30m"), ...silent("GPUThermalMarginExceeded", "30m")],
  },
  {
    name: "GPUThermalMarginExceeded fires below the margin at which an H100 slows down, -2",
    input: [temperature("60x80"), dcgm("DCGM_FI_DEV_GPU_TEMP_LIMIT", "30x9 -2x9 -2.5x19 10x20")],
    expect: [
      ...silent("GPUThermalMarginExceeded", "9m30s", "11m30s", "20m"),
      ...fires(
        "GPUThermalMarginExceeded",
        alert(
          "critical",
          "This GPU is above its thermal limit and beyond the margin at which its hardware slows down: -2.5 °C of margin.",
        ),
        "12m",
        "19m",
      ),
    ],
  },
  {
    name: "GPUThermalMarginExceeded knows that a B200 slows down at -3 and a GB200 at -2",
    input: ["NVIDIA B200", "NVIDIA GB200"].flatMap((model, index) => {
      const of = { node: `node-${index + 1}`, model };
      return [temperature("60x40", of), dcgm("DCGM_FI_DEV_GPU_TEMP_LIMIT", "30x2 -2.5x40", of)];
    }),
    expect: fires(
      "GPUThermalMarginExceeded",
      alert(
        "critical",
        "This GPU is above its thermal limit and beyond the margin at which its hardware slows down: -2.5 °C of margin.",
        { node: "node-2" },
        "NVIDIA GB200",
      ),
      "10m",
    ),
  },
  {
    name: "GPUMemoryTemperatureHigh fires two degrees below the limit of an A100's memory, and 0 is no value",
    input: [
      temperature("60x80", { model: A100 }),
      dcgm("DCGM_FI_DEV_MEMORY_TEMP", "92x10 93x29 92x20", { model: A100 }),
      temperature("60x80", { node: "node-2", model: A100 }),
      dcgm("DCGM_FI_DEV_MEMORY_TEMP", "0x80", { node: "node-2", model: A100 }),
    ],
    expect: [
      ...silent("GPUMemoryTemperatureHigh", "5m", "15m", "20m30s"),
      ...fires(
        "GPUMemoryTemperatureHigh",
        alert(
          "warning",
          "93 °C, close to the highest temperature for steady work of the memory of this GPU.",
          {},
          A100,
        ),
        "15m30s",
        "20m",
      ),
    ],
  },
  {
    name: "GPUMemoryTemperatureHigh reads the GPU's own limit before its model's",
    input: [
      temperature("60x80", { model: A100 }),
      dcgm("DCGM_FI_DEV_MEMORY_TEMP", "94x80", { model: A100 }),
      dcgm("DCGM_FI_DEV_MEM_MAX_OP_TEMP", "105x80", { model: A100 }),
    ],
    expect: silent("GPUMemoryTemperatureHigh", "30m"),
  },
  {
    name: "GPUHardwareThermalSlowdown fires where bit 0x40 stands over half of five minutes, whatever other bits do",
    // 0x44 with the power cap, then without heat: 0x84 has the power brake, which is larger and another reason.
    input: reasons("4x9 68x20 132x20"),
    expect: [
      ...silent("GPUHardwareThermalSlowdown", "5m", "9m", "18m30s"),
      ...fires(
        "GPUHardwareThermalSlowdown",
        alert(
          "critical",
          "The hardware limits the clocks of this GPU because of heat. If it gets hotter, it shuts down.",
        ),
        "9m30s",
        "15m",
      ),
    ],
  },
  {
    name: "GPUHardwareThermalSlowdown fires at five events that the exporter counted, not at four",
    input: [
      temperature("60x80"),
      dcgm("DCGM_EXP_CLOCK_EVENTS_COUNT", "4x10 5x20 4x20", {
        labels: { clock_event: "hw_thermal", window_size_in_ms: "300000" },
      }),
      dcgm("DCGM_EXP_CLOCK_EVENTS_COUNT", "90x80", {
        labels: { clock_event: "sw_thermal", window_size_in_ms: "300000" },
      }),
    ],
    expect: [
      ...silent("GPUHardwareThermalSlowdown", "5m", "7m", "16m"),
      ...fires(
        "GPUHardwareThermalSlowdown",
        alert(
          "critical",
          "The hardware limits the clocks of this GPU because of heat. If it gets hotter, it shuts down.",
        ),
        "7m30s",
        "15m",
      ),
    ],
  },
  {
    name: "GPUSoftwareThermalThrottling fires where bit 0x20 stands over a fifth of half an hour, for half an hour",
    input: reasons("0x9 32x80 0x120"),
    expect: [
      ...silent("GPUSoftwareThermalThrottling", "30m", "40m30s", "1h20m"),
      ...fires(
        "GPUSoftwareThermalThrottling",
        alert("warning", "For 100% of the last half hour the driver limited the clocks of this GPU because of heat."),
        "41m",
      ),
      ...gives(
        'count_over_time(gpu:throttle_reason:info{reason="sw_thermal"}[30m])',
        { [`{UUID="GPU-node-1-0", node="node-1", reason="sw_thermal"}`]: 12 },
        "10m30s",
      ),
    ],
  },
  {
    name: "GPUPowerBrake fires where bit 0x80 stands over half of ten minutes, for five",
    input: reasons("64x9 128x30 64x40"),
    expect: [
      ...silent("GPUPowerBrake", "10m", "14m30s", "26m"),
      ...fires(
        "GPUPowerBrake",
        alert(
          "critical",
          "An external signal (power brake) limits the clocks of this GPU. The machine or the rack lacks power.",
        ),
        "15m",
        "19m30s",
      ),
    ],
  },
];
