import type { RuleCase } from "../case.ts";
import { LINK_CASES } from "./links.ts";
import { MEMORY_CASES } from "./memory.ts";
import { TELEMETRY_CASES } from "./telemetry.ts";
import { THERMAL_CASES } from "./thermal.ts";

/** Every case of the rules. */
export const CASES: readonly RuleCase[] = [...TELEMETRY_CASES, ...THERMAL_CASES, ...MEMORY_CASES, ...LINK_CASES];
