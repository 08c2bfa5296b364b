import type { Dialect } from "./dialect.ts";
import { amd } from "./amd.ts";
import { hami } from "./hami.ts";
import { intel } from "./intel.ts";
import { nvidiaDcgm } from "./nvidia-dcgm.ts";
import { nvidiaSmi } from "./nvidia-smi.ts";

/** Every supported dialect. */
export const DIALECTS: readonly Dialect[] = [nvidiaDcgm, nvidiaSmi, amd, intel, hami];

/** Returns the dialect of each metric name on a page. Names of no exporter are left out. */
export function dialectsOf(names: ReadonlySet<string>): ReadonlyMap<string, Dialect> {
  const found = [...names].flatMap((name) => {
    const dialect = DIALECTS.find(({ owns }) => owns(name));
    return dialect === undefined ? [] : [[name, dialect] as const];
  });
  const isMarked = new Set(found.flatMap(([name, dialect]) => (dialect.marks?.(name) === false ? [] : [dialect])));
  return new Map(found.filter(([, dialect]) => isMarked.has(dialect)));
}
