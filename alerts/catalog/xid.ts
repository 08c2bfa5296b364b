import { XID_CATALOG } from "../../domain/xid/catalog.ts";
import { xidClassOf, xidsOf, type XidClass } from "../../domain/xid/xid.ts";
import type { Notify, Severity } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { quote } from "../promql.ts";
import { keysOf } from "../series/keys.ts";
import { number, type AlertDefinition } from "./definition.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";

/** How long a new XID is reported after it occurred. */
const NEWS_MILLIS = 5 * MINUTE_MILLIS;

interface XidAlert {
  readonly name: string;
  readonly source: "counter" | "latch";
  readonly of: readonly XidClass[];
  readonly severity: Severity;
  readonly notify: Notify;
  readonly keepFiringForMillis?: number;
  readonly summary: string;
}

/** The meaning and the severity of each class of XIDs. */
const CLASSES: readonly XidAlert[] = [
  {
    name: "GPUXidHardwareFault",
    source: "counter",
    of: ["hardware"],
    severity: "critical",
    notify: "page",
    keepFiringForMillis: 30 * MINUTE_MILLIS,
    summary: "A GPU has a hardware fault (XID).",
  },
  {
    name: "GPUXidMemoryDegraded",
    source: "counter",
    of: ["memory"],
    severity: "warning",
    notify: "ticket",
    summary: "The memory of a GPU ages (XID).",
  },
  {
    name: "GPUXidApplicationError",
    source: "counter",
    of: ["application"],
    severity: "info",
    notify: "none",
    summary: "A program on a GPU failed (XID).",
  },
  {
    name: "GPUXidOther",
    source: "counter",
    of: ["warning"],
    severity: "warning",
    notify: "ticket",
    summary: "A GPU reports an XID without a clear consequence.",
  },
  {
    name: "GPUXidNewLatchedCode",
    source: "latch",
    of: ["hardware"],
    severity: "critical",
    notify: "page",
    keepFiringForMillis: 30 * MINUTE_MILLIS,
    summary: "A GPU shows a new XID of a hardware fault.",
  },
  {
    name: "GPUXidNewLatchedCode",
    source: "latch",
    of: ["application"],
    severity: "info",
    notify: "none",
    summary: "A GPU shows a new XID of a program.",
  },
  {
    name: "GPUXidNewLatchedCode",
    source: "latch",
    of: ["memory", "warning"],
    severity: "warning",
    notify: "ticket",
    summary: "A GPU shows a new XID that is no fault of a program.",
  },
];

/** Alerts about faults that the driver reports as XIDs, each when it occurs. */
export const XID_ALERTS: readonly AlertDefinition[] = [
  ...CLASSES.map(xidAlert),
  {
    group: "xid",
    name: "GPUXidRepeatedOnSameGPU",
    counters: [["xid_errors"]],
    sources: ["pods"],
    subject: "gpu",
    severity: "warning",
    notify: "ticket",
    forMillis: 0,
    parameters: { workloads: number(2, 2, 100, "workloads on one GPU that had XID 13 or 31 within a day") },
    expr: (options, { workloads }) => {
      const by = keysOf(options).gpu.join(", ");
      return `count by (${by}) (
  group by (${by}, namespace, workload) (max_over_time(gpu:xid_program_error:info[1d]))
) >= ${workloads}`;
    },
    summary: "Programs of several workloads failed on the same GPU.",
    description:
      "{{ $value }} workloads had XID 13 or 31 on this GPU within a day. If one program fails, the program has the fault. If several programs fail, the GPU may have the fault.",
  },
];

function xidAlert({ source, of, ...alert }: XidAlert): AlertDefinition {
  return {
    ...alert,
    group: "xid",
    counters: [[source === "counter" ? "xid_errors" : "xid_code"]],
    subject: of.includes("application") ? "pod" : "gpu",
    forMillis: 0,
    expr: (options) => news(options, source, of),
    description: `XID {{ $labels.code }}: ${meanings(of)} ${source === "latch" ? "The exporter shows only the last code, without a count. Other codes may have occurred. " : ""}{{ if $labels.pod }}Pod {{ $labels.namespace }}/{{ $labels.pod }} held the GPU when it came.{{ end }}`,
  };
}

function news(options: AlertOptions, source: XidAlert["source"], of: readonly XidClass[]): string {
  const { gpu } = keysOf(options);
  const by = [...gpu, "code", "namespace", "pod"].join(", ");
  return `max by (${by}) (max_over_time(gpu:xid_new:info{source="${source}", ${codesOf(of)}}[${NEWS_MILLIS / MINUTE_MILLIS}m]))`;
}

/** Returns a matcher of the codes of some classes. The last class has all codes that no other class has. */
function codesOf(of: readonly XidClass[]): string {
  if (!of.includes("warning")) return `code=~${quote(of.flatMap(xidsOf).join("|"))}`;
  const others = (["hardware", "memory", "application"] as const).filter((each) => !of.includes(each));
  return `code!~${quote(others.flatMap(xidsOf).join("|"))}`;
}

/** Returns the meaning of a code and the action, selected by the alert's label. */
function meanings(of: readonly XidClass[]): string {
  const codesByText = new Map<string, number[]>();
  for (const { code, action, meaning } of XID_CATALOG) {
    if (!of.includes(xidClassOf(code))) continue;
    const text = `${meaning}.${action === "none" ? "" : ` What to do: ${action}.`}`;
    codesByText.set(text, [...(codesByText.get(text) ?? []), code]);
  }
  const cases = [...codesByText].map(([text, codes], index) => {
    const tests = codes.map((code) => `(eq $labels.code "${code}")`);
    return `{{ ${index === 0 ? "if" : "else if"} ${codes.length === 1 ? tests[0]! : `or ${tests.join(" ")}`} }}${text}`;
  });
  return `${cases.join("")}{{ else }}NVIDIA's catalog does not describe it.{{ end }}`;
}
