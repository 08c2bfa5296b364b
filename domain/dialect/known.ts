import type { Dialect } from "./dialect.ts";
import { amd } from "./amd.ts";
import { intel } from "./intel.ts";
import { nvidiaDcgm } from "./nvidia-dcgm.ts";
import { nvidiaSmi } from "./nvidia-smi.ts";

/** Every exporter that is understood. */
export const DIALECTS: readonly Dialect[] = [nvidiaDcgm, nvidiaSmi, amd, intel];

/** The dialect that a metric's name belongs to, or `undefined`. */
export function dialectOf(name: string): Dialect | undefined {
  return DIALECTS.find((dialect) => dialect.owns(name));
}
