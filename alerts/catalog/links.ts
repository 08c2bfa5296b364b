import { PACE_MILLIS } from "../paces.ts";
import { number, type AlertDefinition } from "./definition.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";

const links = {
  group: "links",
  subject: "gpu",
  severity: "warning",
  notify: "ticket",
  everyMillis: PACE_MILLIS.minute,
} as const;

/** Alerts about the links between GPUs, and to their machine. */
export const LINK_ALERTS: readonly AlertDefinition[] = [
  {
    ...links,
    name: "GPUNVLinkErrors",
    counters: [["nvlink_recovery_errors_total", "nvlink_crc_flit_errors_total"]],
    forMillis: 5 * MINUTE_MILLIS,
    parameters: { crcPerSecond: number(100, 0, 1e6, "CRC errors per second that are normal") },
    expr: (_, { crcPerSecond }) => `gpu:nvlink_recovery_errors:increase15m > 0
or
gpu:nvlink_crc_errors:rate5m > ${crcPerSecond}`,
    summary: "The NVLinks of a GPU have errors.",
    description:
      "NVLinks of this GPU recovered from errors in the last 15 minutes, or have more CRC errors than usual. Jobs on several GPUs get slow or fail.",
  },
  {
    ...links,
    name: "GPUPCIeReplayHigh",
    counters: [["pcie_replay_total"]],
    forMillis: 15 * MINUTE_MILLIS,
    parameters: { perMinute: number(8, 0, 1e6, "retries per minute that are normal") },
    expr: (_, { perMinute }) => `gpu:pcie_replays:rate5m * 60 > ${perMinute}`,
    summary: "The PCIe link of a GPU retries often.",
    description:
      "{{ $value | humanize }} retries per minute on the PCIe link of this GPU. A bad slot, riser or cable slows transfers.",
  },
];
