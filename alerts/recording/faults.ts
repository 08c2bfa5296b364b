import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { withLabel } from "../promql.ts";
import { keysOf, listed, on } from "../series/keys.ts";
import { read } from "../series/read.ts";
import { THROTTLE_BITS } from "../../domain/fleet/throttling.ts";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

/** How long the profiling counters and the energy counter must not change. */
const STUCK_MILLIS = 15 * MINUTE_MILLIS;

/** Returns the rules for reduced clocks. The reasons come and go, and alerts count them. */
export function throttleRules(options: AlertOptions): readonly RecordingRule[] {
  const { gpu: by } = keysOf(options);
  return [
    {
      record: "gpu:throttle_reasons:mask",
      expr: read(options, "clocks_event_reasons", { by, where: `>= ${Math.min(...Object.values(THROTTLE_BITS))}` }),
    },
    { record: "gpu:throttle_reason:info", expr: throttleReasons() },
  ];
}

/** Returns the rules for current faults of GPUs. A series exists only while there is a fault: a healthy fleet has none. */
export function faultRules(options: AlertOptions): readonly RecordingRule[] {
  const { gpu: by } = keysOf(options);
  const over = (fn: string, minutes: number) => ({ by, over: { fn, millis: minutes * MINUTE_MILLIS }, where: "> 0" });
  return [
    { record: "gpu:ecc_double_bit_errors:count", expr: read(options, "ecc_dbe_volatile_total", { by, where: "> 0" }) },
    { record: "gpu:row_remap_failure:info", expr: read(options, "row_remap_failure", { by, where: "> 0" }) },
    {
      record: "gpu:memory_repair_pending:info",
      expr: ["row_remap_pending", "retired_pages_pending"]
        .map((column) => read(options, column, { by, where: "> 0" }))
        .join(`\nor ${on(by)}\n`),
    },
    {
      record: "gpu:health:status",
      expr: read(options, "health_status", { by: [...by, "health_watch"], where: "> 0" }),
    },
    {
      record: "gpu:hw_thermal_events:count",
      expr: read(options, "clock_events", { by, matchers: ['clock_event="hw_thermal"'], where: "> 0" }),
    },
    {
      record: "gpu:nvlink_recovery_errors:increase15m",
      expr: read(options, "nvlink_recovery_errors_total", over("increase", 15)),
    },
    {
      record: "gpu:nvlink_crc_errors:rate5m",
      expr: `sum by (${listed(by)}) (\n${["nvlink_crc_flit_errors_total", "nvlink_crc_data_errors_total"]
        .map((column) => withLabel(read(options, column, over("rate", 5)), "metric", column))
        .join("\nor\n")}\n)`,
    },
    { record: "gpu:pcie_replays:rate5m", expr: read(options, "pcie_replay_total", over("rate", 5)) },
  ];
}

/** The value that a working thermal margin exceeds within a day. Some GPUs have a margin that never changes. */
const LIVE_MARGIN = 5;

/** Returns the rules over longer times: counters that do not change, and memory that ages. */
export function slowFaultRules(options: AlertOptions): readonly RecordingRule[] {
  const { gpu } = keysOf(options);
  const over = (fn: string) => ({ by: gpu, over: { fn, millis: STUCK_MILLIS } });
  return [
    {
      // Only GPUs that existed at both ends and whose counter is not a constant 0: a gap or a restart gives no result.
      record: "gpu:telemetry_frozen:info",
      expr: `(${read(options, "energy_joules", over("changes"))} == 0) + 1
and ${on(gpu)} ${read(options, "energy_joules", { by: gpu, where: "> 0" })}
and ${on(gpu)} last_over_time(gpu:temperature:celsius[2m] offset 15m)`,
    },
    {
      record: "gpu:temperature_margin_stuck:info",
      expr: `(max_over_time(gpu:temperature_margin:celsius[1d]) or ${on(gpu)} gpu:temperature_margin:celsius) <= ${LIVE_MARGIN}`,
    },
    {
      record: "gpu:profiling_stuck:info",
      expr: `(${read(options, "gr_engine_active_ratio", over("max_over_time"))} == 0) + 1
and ${on(gpu)} (${read(options, "gpu_utilization_ratio", over("avg_over_time"))} > 0.5)`,
    },
  ];
}

/** Returns the rules for memory that was remapped within a day: the current rows minus the minimum of the day, checked every hour. */
export function remapRules(options: AlertOptions): readonly RecordingRule[] {
  const { gpu } = keysOf(options);
  const column = "uncorrectable_remapped_rows_total";
  return [
    {
      record: "gpu:uncorrectable_remapped_rows:increase1d",
      expr: `${read(options, column, { by: gpu, where: "> 0" })}
- ${on(gpu)}
${read(options, column, { by: gpu, over: { fn: "min_over_time", millis: DAY_MILLIS, stepMillis: HOUR_MILLIS } })} > 0`,
    },
  ];
}

function throttleReasons(): string {
  const branches = Object.entries(THROTTLE_BITS).map(([reason, bit]) =>
    withLabel(`(floor(gpu:throttle_reasons:mask / ${bit}) % 2 == 1)`, "reason", reason),
  );
  return branches.join("\nor\n");
}
