import { gives, records, type InputSeries, type RuleCase } from "../../case.ts";
import { dcgm, exporterUp, gpuLabels, known, series, type RawGpu } from "../../fleet.ts";

const ml = (pod: string) => ({ namespace: "ml", pod });
const counted = (values: string, of: RawGpu = {}): InputSeries =>
  dcgm("DCGM_EXP_XID_ERRORS_COUNT", values, { ...of, labels: { xid: "79" } });
const latched = (values: string, of: RawGpu = {}): InputSeries => dcgm("DCGM_FI_DEV_XID_ERRORS", values, of);
/** A recorded series of a code of a GPU, with its exporter. */
const recorded = (record: string, code: string, values: string, of: RawGpu = {}): InputSeries =>
  series(record, values, { ...gpuLabels(of), instance: `${of.node ?? "node-1"}:9400`, code });
const held = (pod: string, values: string, gpu: number): InputSeries =>
  series("gpu:device_holder:info", values, { ...gpuLabels({ gpu }), ...ml(pod) });

/** Exporters with their answers in the hour before a code appeared, and whether a new code of theirs counts. */
const EXPORTERS: readonly { readonly node: string; readonly up: string; readonly isBelieved: boolean }[] = [
  { node: "always", up: "1x200", isBelieved: true },
  { node: "long-ago-down", up: "0x39 1x200", isBelieved: true },
  { node: "nine-of-ten", up: `1x59 _x6 1 _x5 1 _x5 0 _x5 ${"1 _x5 ".repeat(6)}1x9`, isBelieved: true },
  { node: "twice-missing", up: "1x69 0x2 1x200", isBelieved: true },
  { node: "often-missing", up: "1x69 0x8 1x200", isBelieved: false },
  { node: "just-begun", up: "0x60 1x200", isBelieved: false },
];

/** The recorded series of XIDs, step by step. */
export const XID_STEP_CASES: readonly RuleCase[] = [
  ...[
    { record: "gpu:xid_counted:count", give: counted },
    { record: "gpu:xid_latched:info", give: latched },
  ].map(({ record, give }): RuleCase => ({
    name: `${record} names a GPU for five minutes after it left its page, one GPU for each place, and no code of 0`,
    input: [
      known({}, "1x19 stale"),
      give("1x100"),
      known({ gpu: 1 }, "1x19 stale"),
      series("gpu:exporter_gpu:info", "_x20 1x100", {
        ...gpuLabels({ gpu: 9 }),
        instance: "node-1:9400",
        gpu: "1",
      }),
      give("1x100", { gpu: 1 }),
      known({ gpu: 2 }),
      give("0x100", { gpu: 2 }),
    ],
    expect: [
      ...gives(`count(${record})`, { "{}": 2 }, "12m", "14m30s"),
      ...gives(`count by (UUID) (${record})`, { [`{UUID="GPU-node-1-9"}`]: 1 }, "15m", "20m"),
    ],
  })),
  {
    name: "a count of 0 is no code, on a GPU that has another one too",
    input: [
      known(),
      ...["0x20", "1x20"].map((values, code) =>
        dcgm("DCGM_EXP_XID_ERRORS_COUNT", values, { labels: { xid: `${13 + code}` } }),
      ),
    ],
    expect: records("gpu:xid_counted:count", [[{ ...gpuLabels(), instance: "node-1:9400", code: "14" }, 1]], "5m"),
  },
  {
    name: "a latched code does not count where the exporter has a counter",
    input: [
      known(),
      latched("31x20"),
      known({ node: "node-2" }),
      latched("31x20", { node: "node-2" }),
      counted("0x20", { node: "node-2" }),
    ],
    expect: records("gpu:xid_latched:info", [[{ ...gpuLabels(), instance: "node-1:9400", code: "31" }, 1]], "5m"),
  },
  ...[
    { record: "gpu:xid_counted:count", source: "counter" },
    { record: "gpu:xid_latched:info", source: "latch" },
  ].flatMap(({ record, source }): readonly RuleCase[] => [
    {
      name: `a code of ${record} is new where the day before did not have it`,
      every: "5m",
      evaluate: "5m",
      input: [
        exporterUp("1x700"),
        known({}, "1x700"),
        recorded(record, "79", "_x12 1 _x288 1 _x20"),
        recorded(record, "31", "_x12 1 _x287 1 _x20"),
      ],
      expect: [
        ...records(
          "gpu:xid_appeared:info",
          ["79", "31"].map((code) => [{ ...gpuLabels(), code, source }, 1] as const),
          "1h",
        ),
        ...records("gpu:xid_appeared:info", [], "1h5m", "25h"),
        ...records("gpu:xid_appeared:info", [[{ ...gpuLabels(), code: "79", source }, 1]], "25h5m"),
      ],
    },
    {
      name: `a new code of ${record} is believed of an exporter that answered half an hour ago, and nine times of ten since`,
      input: [
        ...EXPORTERS.flatMap(({ node, up }) => [
          exporterUp(up, { node }),
          known({ node }),
          recorded(record, "79", "_x120 1x20", { node }),
        ]),
        // The rules for this exporter did not exist half an hour ago.
        exporterUp("1x200", { node: "unknown" }),
        known({ node: "unknown" }, "_x70 1x100"),
        recorded(record, "79", "_x120 1x20", { node: "unknown" }),
      ],
      expect: records(
        "gpu:xid_appeared:info",
        EXPORTERS.filter(({ isBelieved }) => isBelieved).map(
          ({ node }) => [{ ...gpuLabels({ node }), code: "79", source }, 1] as const,
        ),
        "1h",
      ),
    },
  ]),
  {
    name: "a new code names the pod that alone held the GPU just before, else just then, else within five minutes",
    input: [
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((gpu) =>
        series("gpu:xid_appeared:info", "_x20 1 stale", { ...gpuLabels({ gpu }), code: "79", source: "counter" }),
      ),
      held("before", "1x19 stale", 0),
      held("next", "_x20 1x20", 0),
      held("then", "_x20 1x20", 1),
      held("lately", "1x11 stale", 2),
      held("long-ago", "1x7 stale", 3),
      held("long-ago", "1x3 stale", 4),
      held("lately", "_x6 1x6 stale", 4),
      // GPUs that two pods share: just before, at the time, or recently. No pod is named, except where only one of the two is left.
      held("one", "1x19 stale", 5),
      held("other", "1x40", 5),
      held("one", "_x20 1x20", 6),
      held("other", "_x20 1x20", 6),
      held("one", "1x11 stale", 7),
      held("other", "1x11 stale", 7),
    ],
    expect: records(
      "gpu:xid_new:info",
      ["before", "then", "lately", "", "lately", "other", "", ""].map(
        (pod, gpu) =>
          [{ ...gpuLabels({ gpu }), code: "79", source: "counter", ...(pod === "" ? {} : ml(pod)) }, 1] as const,
      ),
      "10m",
    ),
  },
  {
    name: "an error of a program is believed of the same exporters",
    input: EXPORTERS.flatMap(({ node, up }) => [
      exporterUp(up, { node }),
      known({ node }),
      recorded("gpu:xid_counted:count", "13", "1x119 2x20", { node }),
      series("gpu:device_holder:info", "1x200", { ...gpuLabels({ node }), ...ml("train-0") }),
    ]),
    expect: records(
      "gpu:xid_program_error:info",
      EXPORTERS.filter(({ isBelieved }) => isBelieved).map(
        ({ node }) => [{ ...gpuLabels({ node }), code: "13", namespace: "ml", workload: "train-0" }, 1] as const,
      ),
      "1h",
    ),
  },
  {
    name: "an error of a program belongs to the workload that holds the GPU alone, when it comes or comes again",
    input: [
      exporterUp("1x200"),
      ...[0, 1, 2, 3, 4, 5, 6].map((gpu) => known({ gpu })),
      exporterUp("1x19 0 1x200", { node: "node-2" }),
      known({ node: "node-2" }),
      ...["a-0", "a-1"].map((pod) => series("gpu:workload:info", "1x200", { ...ml(pod), workload: "a" })),
      recorded("gpu:xid_counted:count", "13", "1x79 2x100"),
      held("a-0", "1x200", 0),
      recorded("gpu:xid_counted:count", "31", "_x80 1x100", { gpu: 1 }),
      held("nobodys", "1x200", 1),
      recorded("gpu:xid_counted:count", "13", "1x79 2x100", { node: "node-2" }),
      series("gpu:device_holder:info", "1x200", { ...gpuLabels({ node: "node-2" }), ...ml("a-0") }),
      // A GPU that another pod held until ten minutes ago, with a workload and without.
      recorded("gpu:xid_counted:count", "13", "1x79 2x100", { gpu: 2 }),
      held("other", "1x60 stale", 2),
      held("a-0", "_x61 1x200", 2),
      recorded("gpu:xid_counted:count", "13", "1x79 2x100", { gpu: 3 }),
      held("other", "1x60 stale", 3),
      held("nobodys", "_x61 1x200", 3),
      // A GPU that two pods share, and one that no pod has held for six minutes.
      recorded("gpu:xid_counted:count", "13", "1x79 2x100", { gpu: 4 }),
      held("a-0", "1x200", 4),
      held("nobodys", "1x200", 4),
      recorded("gpu:xid_counted:count", "13", "1x79 2x100", { gpu: 5 }),
      held("a-0", "1x68 stale", 5),
      // A code that is new and has no counter.
      series("gpu:xid_appeared:info", "_x80 1 stale", { ...gpuLabels({ gpu: 6 }), code: "31", source: "latch" }),
      held("a-1", "1x200", 6),
      recorded("gpu:xid_counted:count", "79", "1x79 2x100", { gpu: 6 }),
    ],
    expect: [
      ...records("gpu:xid_program_error:info", [], "39m30s", "40m30s"),
      ...records(
        "gpu:xid_program_error:info",
        [
          { gpu: 0, code: "13", workload: "a" },
          { gpu: 1, code: "31", workload: "nobodys" },
          { gpu: 2, code: "13", workload: "a" },
          { gpu: 3, code: "13", workload: "nobodys" },
          { gpu: 6, code: "31", workload: "a" },
        ].map(({ gpu, code, workload }) => [{ ...gpuLabels({ gpu }), code, namespace: "ml", workload }, 1] as const),
        "40m",
      ),
    ],
  },
];
