import { fires, silent, type ExpectedAlert, type RuleCase } from "../../case.ts";
import { gpuLabels, gpuPlace, known, series, type RawGpu } from "../../fleet.ts";

const H100 = "NVIDIA H100 80GB HBM3";
/** Models whose GPUs report a margin: the models in the table of limits, and one that is not in it. */
const MODELS = ["NVIDIA B200", H100, "NVIDIA H200", "NVIDIA L40", "NVIDIA L40S", "NVIDIA GB300", "NVIDIA RTX 6000"];

const NOTIFY = { critical: "page", warning: "ticket", info: "none" } as const;

function alert(
  severity: keyof typeof NOTIFY,
  of: RawGpu,
  description: string,
  labels: Record<string, string> = {},
): ExpectedAlert {
  return {
    labels: { ...gpuLabels(of), ...labels, severity, notify: NOTIFY[severity] },
    annotations: {
      description: `${gpuPlace(of)}${description}`,
      gpu: `${of.gpu ?? 0} (${of.model ?? H100})`,
      held_by: "",
    },
  };
}

/** Alerts about one number of a GPU: the last normal value, the first wrong value, and the time until the alert fires. */
const NUMBERS: readonly {
  readonly name: string;
  readonly record: string;
  readonly labels?: Record<string, string>;
  readonly normal: number;
  readonly wrong: number;
  readonly severity: keyof typeof NOTIFY;
  readonly after: string;
  readonly description: string;
}[] = [
  {
    name: "GPUHealthCheckFailed",
    record: "gpu:health:status",
    labels: { health_watch: "PCIE" },
    normal: 19,
    wrong: 20,
    severity: "critical",
    after: "2m",
    description: "DCGM's watch PCIE of this GPU fails.",
  },
  {
    name: "HighGPUMemoryUsage",
    record: "gpu:memory_used:ratio",
    normal: 0.9,
    wrong: 0.91,
    severity: "info",
    after: "5m",
    description:
      "91% of the memory is used. Frameworks keep memory that they once used, so this alone is no fault. A program that needs more memory will fail.",
  },
  {
    name: "GPUUncorrectableECC",
    record: "gpu:ecc_double_bit_errors:count",
    normal: 0,
    wrong: 1,
    severity: "critical",
    after: "0m",
    description:
      "Double-bit memory errors since the driver was loaded: 1. Results of running programs may be wrong. The GPU needs a reset.",
  },
  {
    name: "GPURowRemapFailure",
    record: "gpu:row_remap_failure:info",
    normal: 0,
    wrong: 1,
    severity: "critical",
    after: "0m",
    description: "A row of memory could not be remapped because no spare rows are left. Return the GPU (RMA).",
  },
  {
    name: "GPUMemoryRepairPending",
    record: "gpu:memory_repair_pending:info",
    normal: 0,
    wrong: 1,
    severity: "warning",
    after: "60m",
    description: "Rows or pages of the GPU's memory will be taken out of use at its next reset.",
  },
  {
    name: "GPUUncorrectableRemapGrowth",
    record: "gpu:uncorrectable_remapped_rows:increase1d",
    normal: 0,
    wrong: 1,
    severity: "warning",
    after: "0m",
    description: "Memory was remapped within a day because of errors that cannot be corrected (rows: 1).",
  },
  ...[
    { record: "gpu:nvlink_recovery_errors:increase15m", normal: 0, wrong: 1 },
    { record: "gpu:nvlink_crc_errors:rate5m", normal: 100, wrong: 101 },
  ].map((numbers) => ({
    name: "GPUNVLinkErrors",
    ...numbers,
    severity: "warning" as const,
    after: "5m",
    description:
      "NVLinks of this GPU recovered from errors in the last 15 minutes, or have more CRC errors than usual. Jobs on several GPUs get slow or fail.",
  })),
  {
    name: "GPUPCIeReplayHigh",
    record: "gpu:pcie_replays:rate5m",
    normal: 0.125,
    wrong: 0.1375,
    severity: "warning",
    after: "15m",
    description: "8.25 retries per minute on the PCIe link of this GPU. A bad slot, riser or cable slows transfers.",
  },
];

const margin = (values: string, of: RawGpu = {}) => series("gpu:temperature_margin:celsius", values, gpuLabels(of));

/** Alerts about GPUs, each on the recorded series: just below and just above the threshold. */
export const GPU_THRESHOLD_CASES: readonly RuleCase[] = [
  ...NUMBERS.map(({ name, record, labels = {}, normal, wrong, severity, after, description }): RuleCase => ({
    name: `${name} fires ${after} after ${record} went to ${wrong} from ${normal}, which is normal`,
    every: "1m",
    evaluate: "1m",
    input: [
      known(),
      series(record, `${normal}x100`, { ...gpuLabels(), ...labels }),
      known({ gpu: 1 }),
      series(record, `${normal}x9 ${wrong}x100`, { ...gpuLabels({ gpu: 1 }), ...labels }),
    ],
    expect: [
      ...silent(name, `${9 + Number.parseInt(after, 10)}m`),
      ...fires(name, alert(severity, { gpu: 1 }, description, labels), `${10 + Number.parseInt(after, 10)}m`),
    ],
  })),
  {
    name: "GPUThermalMarginLow believes a margin that was above five degrees within a day",
    every: "1h",
    evaluate: "1h",
    input: [known({}, "1x40"), margin("6x0 3x40"), known({ gpu: 1 }, "1x40"), margin("5x0 3x40", { gpu: 1 })],
    expect: [
      ...fires(
        "GPUThermalMarginLow",
        alert("warning", {}, "3 °C are left to the thermal limit of this GPU."),
        "2h",
        "24h",
      ),
      // It fires for two more hours.
      ...silent("GPUThermalMarginLow", "1h", "28h"),
    ],
  },
  {
    name: "HighGPUTemperature leaves a GPU to its margin for a day after that was above five degrees",
    every: "1h",
    evaluate: "1h",
    input: ["6x0 0x40", "5x0 0x40"].flatMap((values, gpu) => [
      known({ gpu }, "1x40"),
      series("gpu:temperature:celsius", "95x40", gpuLabels({ gpu })),
      margin(values, { gpu }),
    ]),
    expect: [
      ...fires("HighGPUTemperature", alert("warning", { gpu: 1 }, "95 °C."), "1h", "25h"),
      ...fires(
        "HighGPUTemperature",
        [0, 1].map((gpu) => alert("warning", { gpu }, "95 °C.")),
        "26h",
      ),
    ],
  },
  {
    name: "GPUThermalMarginExceeded fires below -3 on a B200 and below -2 on others, known or not",
    input: [
      ...MODELS.flatMap((model, gpu) => [known({ gpu, model }), margin("30x2 -3.5x40", { gpu })]),
      ...["NVIDIA B200", "NVIDIA H100"].flatMap((model, gpu) => [
        known({ node: "node-2", gpu, model }),
        margin(`30x2 ${gpu === 0 ? -3 : -2}x40`, { node: "node-2", gpu }),
      ]),
    ],
    expect: fires(
      "GPUThermalMarginExceeded",
      MODELS.map((model, gpu) =>
        alert(
          "critical",
          { gpu, model },
          "This GPU is above its thermal limit and beyond the margin at which its hardware slows down: -3.5 °C of margin.",
        ),
      ),
      "10m",
    ),
  },
];
