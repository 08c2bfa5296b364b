import type { RuleCase } from "../case.ts";
import { DIALECT_CASES } from "./dialects.ts";
import { LINK_CASES } from "./links.ts";
import { MEMORY_CASES } from "./memory.ts";
import { PIPELINE_CASES } from "./pipeline.ts";
import { QUEUE_CASES } from "./queue.ts";
import { TELEMETRY_CASES } from "./telemetry.ts";
import { THERMAL_CASES } from "./thermal.ts";
import { WASTE_CASES } from "./waste.ts";
import { XID_CASES } from "./xid.ts";

/** Every case of the rules. */
export const CASES: readonly RuleCase[] = [
  ...DIALECT_CASES,
  ...TELEMETRY_CASES,
  ...XID_CASES,
  ...THERMAL_CASES,
  ...MEMORY_CASES,
  ...LINK_CASES,
  ...WASTE_CASES,
  ...QUEUE_CASES,
  ...PIPELINE_CASES,
];
