import { isHardwareXid } from "../xid/xid.ts";
import type { EndReason } from "../workload.ts";

/** Why a lane of pods halted: the end of a pod, a restart in place, or progress that fell without either. */
export type HaltCause = EndReason | "restarted" | "rolled-back";

/** The sources by which a fault of a node shows: XIDs, conditions of its Node, and the state of its devices. */
export type FaultKind = "not-ready" | "xid" | "unhealthy" | "withdrawn" | "nvsentinel" | "condition" | "taint";

/** A sign of trouble: a fault of a node or of one of its GPUs, or a halt of pods on the node. */
export interface NodeSignal {
  readonly cluster: string;
  readonly node: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: FaultKind | HaltCause;
  /** The XID, the type of the condition, or the key of the taint; empty for other kinds. */
  readonly code: string;
  /** The index of the GPU; undefined if the signal is of the whole node or of a pod. */
  readonly gpu: number | undefined;
  /** True if pods of the node cannot make progress from then on. */
  readonly isBlocking: boolean;
}

/**
 * The types of the conditions that NVSentinel sets on Nodes. `True` is a fault. NVSentinel reports non-fatal faults as Events, which are not
 * read (https://github.com/NVIDIA/NVSentinel).
 */
const NVSENTINEL: ReadonlySet<string> = new Set([
  "GpuMemWatch",
  "GpuThermalWatch",
  "GpuPcieWatch",
  "GpuPowerWatch",
  "GpuInforomWatch",
  "GpuSmWatch",
  "GpuNvlinkWatch",
  "GpuMcuWatch",
  "GpuPmuWatch",
  "GpuDriverWatch",
  "GpuCpusetWatch",
  "SysLogsXIDError",
  "SysLogsSXIDError",
  "SysLogsGPUFallenOff",
  "NVSwitchFatalError",
  "NVSwitchDown",
  "NVSwitchNonFatalError",
  "DCGMError",
  "CSPMaintenance",
  "SyslogError",
]);

type OfNode = Pick<NodeSignal, "cluster" | "node" | "at">;

/** Returns the signal of an XID of a GPU. XIDs of the hardware class block the pods of the GPU's node. */
export function xidSignal(of: OfNode, gpu: number | undefined, code: number): NodeSignal {
  return { ...of, kind: "xid", code: String(code), gpu, isBlocking: isHardwareXid(code) };
}

/** Returns the signal of a condition of a Node other than Ready, which reports a problem. */
export function conditionSignal(of: OfNode, type: string): NodeSignal {
  const kind = NVSENTINEL.has(type) ? "nvsentinel" : "condition";
  return { ...of, kind, code: type, gpu: undefined, isBlocking: false };
}

/**
 * Returns the signal of a GPU that has become unavailable, by the ledger's reason; undefined if the reason is no fault: a GPU that is
 * cordoned or absent, or without MIG instances.
 */
export function unavailableSignal(of: OfNode, gpu: number | undefined, because: string): NodeSignal | undefined {
  const [, xid] = /^xid-(\d+)$/.exec(because) ?? [];
  if (xid !== undefined) return xidSignal(of, gpu, Number(xid));
  if (because === "not-ready") return { ...of, kind: "not-ready", code: "", gpu: undefined, isBlocking: true };
  if (because === "unhealthy" || because === "withdrawn")
    return { ...of, kind: because, code: "", gpu, isBlocking: true };
  // A tainted device stays with the pod that has it.
  if (because.startsWith("taint "))
    return { ...of, kind: "taint", code: because.slice("taint ".length), gpu, isBlocking: false };
  return undefined;
}

/** The kinds of signals, strongest first. The first kind of an incident names it. */
const ORDER: readonly NodeSignal["kind"][] = [
  "xid",
  "not-ready",
  "unhealthy",
  "nvsentinel",
  "withdrawn",
  "taint",
  "node-lost",
  "preempted",
  "evicted",
  "condition",
  "out-of-memory",
  "failed",
  "restarted",
  "rolled-back",
  "deleted",
  "unknown",
  "completed",
];

/** Returns the signal that names an incident: of the strongest kind, one that blocks before others, then the earliest. */
export function mainSignal(signals: readonly NodeSignal[]): NodeSignal {
  const rank = ({ kind, isBlocking }: NodeSignal): number => ORDER.indexOf(kind) * 2 - Number(isBlocking);
  return signals.toSorted((a, b) => rank(a) - rank(b) || a.at - b.at)[0]!;
}

const WORDS: Readonly<Partial<Record<NodeSignal["kind"], (code: string) => string>>> = {
  xid: (code) => `XID ${code}`,
  "not-ready": () => "node not ready",
  unhealthy: () => "device unhealthy",
  withdrawn: () => "device withdrawn",
  nvsentinel: (code) => `${code} (NVSentinel)`,
  condition: (code) => code,
  taint: (code) => `device taint ${code}`,
};

/** Returns a signal in words: `XID 79 on GPU 3`, `node not ready`, `GpuNvlinkWatch (NVSentinel)`, `preempted`. */
export function signalText({ kind, code, gpu }: Pick<NodeSignal, "kind" | "code" | "gpu">): string {
  const words = WORDS[kind]?.(code) ?? kind.replaceAll("-", " ");
  return gpu === undefined ? words : `${words} on GPU ${gpu}`;
}
