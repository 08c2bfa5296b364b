import { fires, silent, type ExpectedAlert, type Expectation, type RuleCase } from "../case.ts";
import { dcgm, exporterUp, gpuLabels, gpuPlace, series, type RawGpu } from "../fleet.ts";

const POD = { namespace: "ml", pod: "train-0" } as const;
const temperature = (values: string, of: RawGpu = {}) => dcgm("DCGM_FI_DEV_GPU_TEMP", values, of);
const counted = (code: string, values: string, of: RawGpu = {}) =>
  dcgm("DCGM_EXP_XID_ERRORS_COUNT", values, {
    ...of,
    labels: { ...of.labels, xid: code, window_size_in_ms: "300000" },
  });
/** A healthy exporter of 4.x that counts XIDs: without a fault its count has no code. */
const counting = (of: RawGpu = {}) => [
  exporterUp("1x4000", of),
  temperature("50x4000", of),
  counted("0", "0x4000", of),
];
const latched = (values: string, of: RawGpu = {}) => dcgm("DCGM_FI_DEV_XID_ERRORS", values, of);
const held = (values: string, pod: Readonly<Record<string, string>> = POD, of: RawGpu = {}) =>
  dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", values, { ...of, labels: pod });

const HELD_THEN = "Pod ml/train-0 held the GPU when it came.";

function ofGpu(
  code: string,
  severity: "critical" | "warning",
  text: string,
  more: {
    readonly labels?: Record<string, string>;
    readonly heldBy?: string;
    readonly of?: RawGpu;
    readonly number?: string;
  } = {},
): ExpectedAlert {
  const { labels = {}, heldBy = "", of = {}, number = "0 (NVIDIA H100 80GB HBM3)" } = more;
  return {
    labels: { ...gpuLabels(of), code, ...labels, severity, notify: severity === "critical" ? "page" : "ticket" },
    annotations: {
      description: `${gpuPlace(of)}XID ${code}: ${text}`,
      gpu: number,
      held_by: heldBy,
    },
  };
}

const OFF_THE_BUS =
  "the GPU is no longer reachable over PCIe: it has fallen off the bus. What to do: restart the machine. ";

function ofProgram(code: string, text: string, labels: Record<string, string>): ExpectedAlert {
  return {
    labels: { ...gpuLabels(), code, ...labels, severity: "info", notify: "none" },
    annotations: { description: `XID ${code}: ${text}` },
  };
}

/** None of the alerts of counted codes. */
const noneCounted = (...times: string[]): readonly Expectation[] =>
  ["GPUXidHardwareFault", "GPUXidMemoryDegraded", "GPUXidApplicationError", "GPUXidOther"].flatMap((name) =>
    silent(name, ...times),
  );

/** Faults that the driver reports. */
export const XID_CASES: readonly RuleCase[] = [
  {
    name: "GPUXidHardwareFault fires with the first sample of XID 79, and for half an hour after the code was new",
    input: [...counting(), held("0.9x200"), counted("79", "_x120 1x9 0x400")],
    expect: [
      ...silent("GPUXidHardwareFault", "59m30s", "1h36m"),
      ...fires(
        "GPUXidHardwareFault",
        ofGpu("79", "critical", `${OFF_THE_BUS}${HELD_THEN}`, { labels: POD, heldBy: "ml/train-0 " }),
        "1h",
        "1h5m",
        "1h34m30s",
      ),
      ...silent("GPUXidApplicationError", "1h"),
      ...silent("GPUXidMemoryDegraded", "1h"),
      ...silent("GPUXidOther", "1h"),
      ...silent("GPUXidNewLatchedCode", "1h"),
    ],
  },
  {
    name: "every class of XID has its alert, an unknown code too",
    input: [...counting(), ...["79", "94", "13", "999"].map((code) => counted(code, "_x120 1x9"))],
    expect: [
      ...fires("GPUXidHardwareFault", ofGpu("79", "critical", OFF_THE_BUS), "1h"),
      ...fires(
        "GPUXidMemoryDegraded",
        ofGpu(
          "94",
          "warning",
          "a memory error that was contained: only the program that hit it is affected. What to do: restart the application. ",
        ),
        "1h",
        "1h5m",
      ),
      ...silent("GPUXidMemoryDegraded", "1h5m30s"),
      ...fires(
        "GPUXidApplicationError",
        ofProgram(
          "13",
          "an exception of the compute engine: often an access outside an array, or a bad instruction. What to do: restart the application. ",
          {},
        ),
        "1h",
      ),
      ...fires("GPUXidOther", ofGpu("999", "warning", "NVIDIA's catalog does not describe it. "), "1h"),
    ],
  },
  {
    name: "the day of installation is silent though codes stand on the first page",
    input: [exporterUp("1x400"), temperature("50x400"), counted("79", "1x400"), latched("31x400", { node: "node-2" })],
    expect: [...noneCounted("0s", "10m", "31m", "1h"), ...silent("GPUXidNewLatchedCode", "0s", "10m", "31m", "1h")],
  },
  {
    name: "loading the rules into a Prometheus that has long scraped is silent about codes that stand already",
    // The rules begin with the evaluation at 0. The exporter, with its code, existed before.
    input: [
      exporterUp("1x400"),
      temperature("_x70 50x400"),
      counted("79", "_x70 1x400"),
      latched("_x70 31x400", { node: "node-2" }),
      temperature("_x70 50x400", { node: "node-2" }),
      exporterUp("1x400", { node: "node-2" }),
    ],
    expect: [...noneCounted("35m", "40m", "1h6m", "1h10m"), ...silent("GPUXidNewLatchedCode", "35m", "40m", "1h6m")],
  },
  {
    name: "an XID fires also if its GPU leaves the page with it",
    input: [
      exporterUp("1x400"),
      temperature("50x119 stale"),
      temperature("50x400", { gpu: 1 }),
      counted("79", "_x120 1x9"),
    ],
    expect: fires("GPUXidHardwareFault", ofGpu("79", "critical", OFF_THE_BUS, { number: "" }), "1h"),
  },
  {
    name: "a roll-out of the exporter is silent: the code is known of this GPU, and the new target is young",
    input: [
      ...counting(),
      latched("_x120 79x200"),
      temperature("50x400", { labels: { instance: "10.0.0.9:9400" } }),
      series("up", "_x60 1x400", { job: "dcgm-exporter", instance: "10.0.0.9:9400" }),
      counted("79", "_x60 1x400", { labels: { instance: "10.0.0.9:9400" } }),
    ],
    expect: noneCounted("30m30s", "40m", "1h", "1h10m"),
  },
  {
    name: "a code of the last 24 h is not new; an older code is",
    every: "5m",
    evaluate: "5m",
    input: [exporterUp("1x700"), temperature("50x700"), counted("79", "_x12 1 0x100 1 0x300 1 0x20")],
    expect: [
      ...fires("GPUXidHardwareFault", ofGpu("79", "critical", OFF_THE_BUS), "1h"),
      ...silent("GPUXidHardwareFault", "9h30m", "9h35m"),
      ...fires("GPUXidHardwareFault", ofGpu("79", "critical", OFF_THE_BUS), "34h40m"),
    ],
  },
  {
    name: "an exporter that has answered for half an hour, one scrape in twelve aside, is believed",
    input: [
      exporterUp("1x70 0x4 1x400"),
      temperature("50x400"),
      counted("79", "_x120 1x9"),
      exporterUp("1x70 0x9 1x400", { node: "node-2" }),
      temperature("50x400", { node: "node-2" }),
      counted("79", "_x120 1x9", { node: "node-2" }),
    ],
    expect: fires("GPUXidHardwareFault", ofGpu("79", "critical", OFF_THE_BUS), "1h"),
  },
  {
    name: "an XID has the pod that held the GPU when the code came, not the next pod",
    input: [
      ...counting(),
      held("0.9x119 stale", POD),
      held("_x120 0.1x100", { namespace: "ml", pod: "next-0" }),
      counted("31", "_x120 1x9"),
    ],
    expect: fires(
      "GPUXidApplicationError",
      ofProgram(
        "31",
        `a page fault: the program used memory that was not mapped. What to do: restart the application. ${HELD_THEN}`,
        POD,
      ),
      "1h",
      "1h4m",
    ),
  },
  {
    name: "of pods that share the GPU none is blamed, and every MIG instance's repeated count is one alert",
    input: [
      exporterUp("1x400"),
      ...["1", "2"].flatMap((instance) => [
        temperature("50x400", { labels: { GPU_I_ID: instance } }),
        held("0.5x400", { namespace: "ml", pod: `pod-${instance}`, GPU_I_ID: instance }),
        counted("79", "_x120 1x9", { labels: { GPU_I_ID: instance } }),
      ]),
    ],
    expect: fires("GPUXidHardwareFault", ofGpu("79", "critical", OFF_THE_BUS, { heldBy: "ml/pod-1 ml/pod-2 " }), "1h"),
  },
  {
    name: "GPUXidNewLatchedCode fires where the exporter does not count and a latched code is new, by its class",
    input: [exporterUp("1x4000"), temperature("50x4000"), latched("0x119 31x60 79x3000")],
    expect: [
      ...silent("GPUXidNewLatchedCode", "59m30s", "1h10m", "3h"),
      ...fires(
        "GPUXidNewLatchedCode",
        ofProgram(
          "31",
          "a page fault: the program used memory that was not mapped. What to do: restart the application. The exporter shows only the last code, without a count. Other codes may have occurred. ",
          {},
        ),
        "1h",
      ),
      ...fires(
        "GPUXidNewLatchedCode",
        ofGpu(
          "79",
          "critical",
          `${OFF_THE_BUS}The exporter shows only the last code, without a count. Other codes may have occurred. `,
        ),
        "1h30m30s",
        "2h",
      ),
      ...noneCounted("1h", "1h31m"),
    ],
  },
  {
    name: "GPUXidNewLatchedCode reads the name of 4.9, and a code that is no program's fault is a warning",
    input: [exporterUp("1x400"), temperature("50x400"), dcgm("DCGM_FI_DEV_XID_ERROR", "0x119 63x60")],
    expect: fires(
      "GPUXidNewLatchedCode",
      ofGpu(
        "63",
        "warning",
        "a row of memory was remapped, or a page retired; it takes effect at the next reset. The exporter shows only the last code, without a count. Other codes may have occurred. ",
      ),
      "1h",
    ),
  },
  {
    name: "GPUXidRepeatedOnSameGPU fires when programs of a second workload fail on the GPU within a day",
    input: [
      ...counting(),
      held("0.9x150 stale", { namespace: "ml", pod: "a-0" }),
      held("_x151 0.9x149 stale", { namespace: "ml", pod: "a-1" }),
      held("_x302 0.9x400", { namespace: "ml", pod: "b-0" }),
      ...[
        ["a-0", "a"],
        ["a-1", "a"],
        ["b-0", "b"],
      ].map(([pod, workload]) =>
        series("gpu_workload_info", "1x4000", {
          namespace: "ml",
          pod: pod!,
          workload: workload!,
          instance: "processor-0:8080",
        }),
      ),
      counted("13", "_x120 1x9 0x70 1x9 0x200 1x9 0x100"),
    ],
    expect: [
      ...silent("GPUXidRepeatedOnSameGPU", "1h", "1h45m", "3h25m30s"),
      ...fires(
        "GPUXidRepeatedOnSameGPU",
        {
          labels: { ...gpuLabels(), severity: "warning", notify: "ticket" },
          annotations: {
            description: `${gpuPlace()}2 workloads had XID 13 or 31 on this GPU within a day. If one program fails, the program has the fault. If several programs fail, the GPU may have the fault.`,
            gpu: "0 (NVIDIA H100 80GB HBM3)",
            held_by: "ml/b-0 ",
          },
        },
        "3h27m",
      ),
    ],
  },
];
