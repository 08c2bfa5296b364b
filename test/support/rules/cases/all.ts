import type { RuleCase } from "../case.ts";
import { CALM_CASES } from "./calm.ts";
import { DIALECT_CASES } from "./dialects.ts";
import { HOUR_CASES } from "./hours.ts";
import { LINK_CASES } from "./links.ts";
import { MEMORY_CASES } from "./memory.ts";
import { PIPELINE_CASES } from "./pipeline.ts";
import { QUEUE_CASES } from "./queue.ts";
import { DEVICE_CASES } from "./recorded/devices.ts";
import { FAULT_CASES } from "./recorded/faults.ts";
import { FLEET_CASES } from "./recorded/fleet.ts";
import { HOLDER_CASES } from "./recorded/holders.ts";
import { WINDOW_CASES } from "./recorded/windows.ts";
import { WORKLOAD_CASES } from "./recorded/workloads.ts";
import { XID_STEP_CASES } from "./recorded/xids.ts";
import { SERVING_CASES } from "./serving.ts";
import { TELEMETRY_CASES } from "./telemetry.ts";
import { THERMAL_CASES } from "./thermal.ts";
import { GPU_THRESHOLD_CASES } from "./thresholds/gpus.ts";
import { TELEMETRY_THRESHOLD_CASES } from "./thresholds/telemetry.ts";
import { WASTE_THRESHOLD_CASES } from "./thresholds/waste.ts";
import { XID_THRESHOLD_CASES } from "./thresholds/xid.ts";
import { WASTE_CASES } from "./waste.ts";
import { XID_CASES } from "./xid.ts";

/** Every case of the rules. */
export const CASES: readonly RuleCase[] = [
  ...DEVICE_CASES,
  ...HOLDER_CASES,
  ...FLEET_CASES,
  ...WORKLOAD_CASES,
  ...FAULT_CASES,
  ...XID_STEP_CASES,
  ...WINDOW_CASES,
  ...GPU_THRESHOLD_CASES,
  ...TELEMETRY_THRESHOLD_CASES,
  ...WASTE_THRESHOLD_CASES,
  ...XID_THRESHOLD_CASES,
  ...DIALECT_CASES,
  ...SERVING_CASES,
  ...TELEMETRY_CASES,
  ...XID_CASES,
  ...THERMAL_CASES,
  ...MEMORY_CASES,
  ...LINK_CASES,
  ...WASTE_CASES,
  ...HOUR_CASES,
  ...QUEUE_CASES,
  ...PIPELINE_CASES,
  ...CALM_CASES,
];
