import type { Device, DeviceClaim } from "../device.ts";

/** The conversion of a raw value into a canonical one. */
export interface Reading {
  /** The factor for the raw value. */
  readonly factor: number;
  /** The smallest and largest valid canonical value. Values outside are dropped as out of range. */
  readonly least: number;
  readonly most: number;
  /** True if 0 means "not supported" (MEMORY_TEMP on T4, L4, L40S). */
  readonly zeroMeansUnsupported?: true;
  /** True if the exporter gives 0..100 or 0..1 under one name. The page decides (see `unitHint` in collectors/exporters/fold/compile.ts). */
  readonly percentOrRatio?: true;
  /** True if the HELP text has the factor, as `(in us)` or `(in ns)`. */
  readonly timeByHelp?: true;
}

/** An exporter's name for a canonical metric, with the label values that it requires. */
export interface Alias {
  readonly column: string;
  readonly reading: Reading;
  readonly when?: Readonly<Record<string, string>>;
  /** The label with the canonical value, if the value of a series is a time. The series of a row with the latest time counts. */
  readonly codeLabel?: string;
  /** If one page has a column under two names, the lower rank counts. The other stays under its own name. */
  readonly rank: number;
}

/** The fields of a device that a label can fill. */
export type DeviceField =
  | Exclude<keyof Device, "claim" | "labels" | "repeatsGpu" | "repeatsDevice">
  | `claim.${keyof DeviceClaim}`;

/** The dialect of one vendor's exporter. */
export interface Dialect {
  readonly exporter: string;
  /** True if its page is read together with an exporter's page. The values and the name of the exporter then take precedence. */
  readonly isCompanion?: true;
  /** The exporter's names of the canonical metrics. */
  readonly table: readonly AliasRow[];
  /** Returns whether a metric's name belongs to this exporter. */
  readonly owns: (name: string) => boolean;
  /** Returns whether a name proves that the page is this exporter's. Absent if no other program has similar names. */
  readonly marks?: (name: string) => boolean;
  /** Returns the aliases of a metric's name, in the order in which they are tried; empty for an unknown metric. */
  readonly aliases: (name: string) => readonly Alias[];
  /** Labels that fill a field of the device, in lower case, because re-exports and relabeling write names in any case. */
  readonly fields: Readonly<Record<string, DeviceField>>;
  /** Labels that name neither a device nor a holder, in lower case. */
  readonly ignored: ReadonlySet<string>;
  /** Labels of entities that are not GPUs, in lower case: links, switches, CPUs. */
  readonly foreign: ReadonlySet<string>;
  /** Corrects a device where the fields alone are not enough. Label names are in lower case. */
  readonly refine?: (device: Device, labels: ReadonlyMap<string, string>) => Device;
  /** Returns the devices of a host, with the parts of one GPU under that GPU, in the same order. */
  readonly fold?: (devices: readonly Device[]) => readonly Device[];
}

/** Returns a reading that only multiplies. The value cannot be negative. */
export const number = (factor = 1): Reading => ({ factor, least: 0, most: Number.POSITIVE_INFINITY });
/** A percentage 0..100, converted to a ratio. Exporters overshoot by rounding errors: up to 1 % above counts as the whole. */
export const percent: Reading = { factor: 0.01, least: 0, most: 1 };
/** A ratio 0..1, whatever the HELP text has. */
export const ratio: Reading = { factor: 1, least: 0, most: 1 };
/** A value 0..100 or 0..1 under the same name. */
export const percentOrRatio: Reading = { factor: 1, least: 0, most: 1, percentOrRatio: true };
/** Degrees Celsius, and differences of degrees, which can be negative. */
export const celsius: Reading = { factor: 1, least: -273.15, most: 1000 };
/** Degrees Celsius, where 0 means that the GPU has no value. */
export const celsiusOrUnsupported: Reading = { ...celsius, zeroMeansUnsupported: true };
/** A duration in the unit of the HELP text; microseconds without one, as for dcgm-exporter's counters. */
export const timeByHelp: Reading = { ...number(1e-6), timeByHelp: true };

/** A row of an alias table: the column, its reading, and its names in order of preference. */
export type AliasRow = readonly [
  column: string,
  reading: Reading,
  ...names: readonly (string | readonly [name: string, when: Readonly<Record<string, string>>] | LabeledCode)[],
];

/** A metric whose values are times of the code in a label. */
interface LabeledCode {
  readonly times: string;
  readonly codeLabel: string;
}

/**
 * Returns the lookup function of an alias table. Keys are in upper case, because custom counter files write names in either case.
 * OpenMetrics appends `_total` to the name of a counter (https://prometheus.io/docs/specs/om/open_metrics_spec/#counter).
 */
export function aliasTable(rows: readonly AliasRow[], firstRank = 0): (name: string) => readonly Alias[] {
  const table = new Map<string, Alias[]>();
  let rank = firstRank;
  for (const [column, reading, ...names] of rows) {
    for (const entry of names) {
      const { name, ...more } = aliasOf(entry);
      const key = name.toUpperCase();
      const alias = { column, reading, rank, ...more };
      table.set(key, [...(table.get(key) ?? []), alias]);
      rank += 1;
    }
  }
  return (name) => {
    const key = name.toUpperCase();
    return table.get(key) ?? table.get(familyOf(key)) ?? NONE;
  };
}

function aliasOf(entry: AliasRow[2]): { readonly name: string } & Pick<Alias, "when" | "codeLabel"> {
  if (typeof entry === "string") return { name: entry };
  if ("times" in entry) return { name: entry.times, codeLabel: entry.codeLabel };
  const [name, when] = entry;
  return { name, when };
}

/** Returns the name of a metric's family: a counter's name without `_total`. */
export function familyOf(name: string): string {
  return name.replace(/_total$/i, "");
}

const NONE: readonly Alias[] = [];
