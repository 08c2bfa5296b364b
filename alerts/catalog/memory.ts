import { PACE_MILLIS } from "../paces.ts";
import { number, ratio, type AlertDefinition } from "./definition.ts";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

const memory = { group: "memory", subject: "gpu", everyMillis: PACE_MILLIS.minute } as const;

/** Alerts about memory that fails or ages, and about the health that DCGM watches. */
export const MEMORY_ALERTS: readonly AlertDefinition[] = [
  {
    ...memory,
    name: "GPUHealthCheckFailed",
    counters: [["health_status"]],
    severity: "critical",
    notify: "page",
    forMillis: 2 * MINUTE_MILLIS,
    parameters: { status: number(20, 10, 20, "status of DCGM: 10 is a warning, 20 a failure") },
    expr: (_, { status }) => `gpu:health:status{health_watch!~"THERMAL|POWER"} >= ${status}`,
    summary: "DCGM's health watch of a GPU fails.",
    description: "DCGM's watch {{ $labels.health_watch }} of this GPU fails.",
  },
  {
    ...memory,
    name: "GPUUncorrectableECC",
    counters: [["ecc_dbe_volatile_total"]],
    severity: "critical",
    notify: "page",
    forMillis: 0,
    parameters: {
      errors: number(0, 0, 1000, "double-bit errors since the driver was loaded that are normal"),
    },
    expr: (_, { errors }) => `gpu:ecc_double_bit_errors:count > ${errors}`,
    summary: "The memory of a GPU has errors that ECC cannot correct.",
    description:
      "Double-bit memory errors since the driver was loaded: {{ $value }}. Results of running programs may be wrong. The GPU needs a reset.",
  },
  {
    ...memory,
    name: "GPURowRemapFailure",
    counters: [["row_remap_failure"]],
    severity: "critical",
    notify: "page",
    forMillis: 0,
    expr: () => "gpu:row_remap_failure:info > 0",
    summary: "A GPU cannot repair its memory any more.",
    description: "A row of memory could not be remapped because no spare rows are left. Return the GPU (RMA).",
  },
  {
    ...memory,
    name: "GPUMemoryRepairPending",
    counters: [["row_remap_pending", "retired_pages_pending"]],
    severity: "warning",
    notify: "ticket",
    forMillis: HOUR_MILLIS,
    expr: () => "gpu:memory_repair_pending:info > 0",
    summary: "A repair of a GPU's memory waits for a reset.",
    description: "Rows or pages of the GPU's memory will be taken out of use at its next reset.",
  },
  {
    ...memory,
    name: "GPUUncorrectableRemapGrowth",
    counters: [["uncorrectable_remapped_rows_total"]],
    severity: "warning",
    notify: "ticket",
    forMillis: 0,
    everyMillis: PACE_MILLIS.fourMinutes,
    parameters: { rows: number(0, 0, 1000, "rows per day that are normal") },
    expr: (_, { rows }) => `gpu:uncorrectable_remapped_rows:increase1d > ${rows}`,
    summary: "Rows of a GPU's memory were remapped for uncorrectable errors.",
    description: "Memory was remapped within a day because of errors that cannot be corrected (rows: {{ $value }}).",
  },
  {
    ...memory,
    name: "HighGPUMemoryUsage",
    counters: [["fb_used_bytes"], ["fb_free_bytes"]],
    severity: "info",
    notify: "none",
    forMillis: 5 * MINUTE_MILLIS,
    parameters: { threshold: ratio(0.9, "used part of the memory") },
    expr: (_, { threshold }) => `gpu:memory_used:ratio > ${threshold}`,
    summary: "The memory of a GPU is nearly full.",
    description:
      "{{ $value | humanizePercentage }} of the memory is used. Frameworks keep memory that they once used, so this alone is no fault. A program that needs more memory will fail.",
  },
];
