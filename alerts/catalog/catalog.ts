import type { AlertDefinition } from "./definition.ts";
import { LINK_ALERTS } from "./links.ts";
import { MEMORY_ALERTS } from "./memory.ts";
import { PIPELINE_ALERTS } from "./pipeline.ts";
import { QUEUE_ALERTS } from "./queue.ts";
import { SERVING_ALERTS } from "./serving.ts";
import { TELEMETRY_ALERTS } from "./telemetry.ts";
import { THERMAL_ALERTS } from "./thermal.ts";
import { WASTE_ALERTS } from "./waste.ts";
import { XID_ALERTS } from "./xid.ts";

/** Every alert. An alert can be listed several times, once for each severity. */
export const CATALOG: readonly AlertDefinition[] = [
  ...TELEMETRY_ALERTS,
  ...XID_ALERTS,
  ...MEMORY_ALERTS,
  ...THERMAL_ALERTS,
  ...LINK_ALERTS,
  ...WASTE_ALERTS,
  ...QUEUE_ALERTS,
  ...SERVING_ALERTS,
  ...PIPELINE_ALERTS,
];

/** The names of all alerts, each once. */
export const ALERT_NAMES: readonly string[] = [...new Set(CATALOG.map(({ name }) => name))];
