import { fires, silent, type ExpectedAlert, type InputSeries, type RuleCase } from "../../case.ts";
import { gpuLabels, gpuPlace, known, series } from "../../fleet.ts";

const appeared = (code: string, source: string, gpu = 0, labels: Readonly<Record<string, string>> = {}): InputSeries =>
  series("gpu:xid_new:info", "_x20 1 stale", { ...gpuLabels({ gpu }), code, source, ...labels });
const LATCHED = "The exporter shows only the last code, without a count. Other codes may have occurred. ";

const ofGpu = (severity: "critical" | "warning", code: string, text: string): ExpectedAlert => ({
  labels: { ...gpuLabels(), code, severity, notify: severity === "critical" ? "page" : "ticket" },
  annotations: { description: `${gpuPlace()}XID ${code}: ${text}`, gpu: "0 (NVIDIA H100 80GB HBM3)", held_by: "" },
});

/** How long an alert about an XID fires. */
export const XID_THRESHOLD_CASES: readonly RuleCase[] = [
  {
    name: "GPUXidApplicationError fires for five minutes, with the team of the pod or without",
    input: [
      appeared("13", "counter", 0, { namespace: "ml", pod: "owned" }),
      appeared("13", "counter", 1, { namespace: "ml", pod: "unowned" }),
      series("gpu:workload:info", "1x100", { namespace: "ml", pod: "owned", team: "vision" }),
    ],
    expect: [
      ...silent("GPUXidApplicationError", "9m30s", "15m30s"),
      ...fires(
        "GPUXidApplicationError",
        [{ pod: "owned", team: "vision" }, { pod: "unowned" }].map((labels, gpu) => ({
          labels: { ...gpuLabels({ gpu }), code: "13", namespace: "ml", ...labels, severity: "info", notify: "none" },
          annotations: {
            description: `XID 13: an exception of the compute engine: often an access outside an array, or a bad instruction. What to do: restart the application. Pod ml/${labels.pod} held the GPU when it came.`,
          },
        })),
        "10m",
        "15m",
      ),
    ],
  },
  ...[
    {
      name: "GPUXidHardwareFault",
      source: "counter",
      code: "79",
      severity: "critical" as const,
      text: "the GPU is no longer reachable over PCIe: it has fallen off the bus. What to do: restart the machine. ",
      last: "45m",
      after: "45m30s",
    },
    {
      name: "GPUXidMemoryDegraded",
      source: "counter",
      code: "63",
      severity: "warning" as const,
      text: "a row of memory was remapped, or a page retired; it takes effect at the next reset. ",
      last: "15m",
      after: "15m30s",
    },
    {
      name: "GPUXidOther",
      source: "counter",
      code: "999",
      severity: "warning" as const,
      text: "NVIDIA's catalog does not describe it. ",
      last: "15m",
      after: "15m30s",
    },
    {
      name: "GPUXidNewLatchedCode",
      source: "latch",
      code: "79",
      severity: "critical" as const,
      text: `the GPU is no longer reachable over PCIe: it has fallen off the bus. What to do: restart the machine. ${LATCHED}`,
      last: "45m",
      after: "45m30s",
    },
    {
      name: "GPUXidNewLatchedCode",
      source: "latch",
      code: "63",
      severity: "warning" as const,
      text: `a row of memory was remapped, or a page retired; it takes effect at the next reset. ${LATCHED}`,
      last: "15m",
      after: "15m30s",
    },
  ].map(({ name, source, code, severity, text, last, after }): RuleCase => ({
    name: `${name} fires for XID ${code} at once, and until ${last}`,
    input: [known(), appeared(code, source)],
    expect: [...silent(name, "9m30s", after), ...fires(name, ofGpu(severity, code, text), "10m", last)],
  })),
  {
    name: "GPUXidRepeatedOnSameGPU fires at once when a second workload fails within a day of the first",
    every: "1h",
    evaluate: "1h",
    input: [
      known({}, "1x40"),
      ...["a", "b"].map((workload, index) =>
        series("gpu:xid_program_error:info", `_x${index + 1} 1 stale`, {
          ...gpuLabels(),
          code: "13",
          namespace: "ml",
          workload,
        }),
      ),
    ],
    expect: [
      ...silent("GPUXidRepeatedOnSameGPU", "1h", "26h"),
      ...fires(
        "GPUXidRepeatedOnSameGPU",
        {
          labels: { ...gpuLabels(), severity: "warning", notify: "ticket" },
          annotations: {
            description: `${gpuPlace()}2 workloads had XID 13 or 31 on this GPU within a day. If one program fails, the program has the fault. If several programs fail, the GPU may have the fault.`,
            gpu: "0 (NVIDIA H100 80GB HBM3)",
            held_by: "",
          },
        },
        "2h",
        "25h",
      ),
    ],
  },
];
