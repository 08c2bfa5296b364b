import type { Device, DeviceClaim } from "../device.ts";

/** How a raw value becomes a canonical one. */
export interface Reading {
  /** What the raw value is multiplied by. */
  readonly factor: number;
  /** The smallest and largest canonical value that can be true; what lies outside is dropped as out of range. */
  readonly least: number;
  readonly most: number;
  /** Whether a 0 says "not supported" (MEMORY_TEMP on T4, L4, L40S). */
  readonly zeroMeansUnsupported?: true;
  /** Whether the exporter gives 0..100 or 0..1 under one name; the page decides (see `unitOf` in fold.ts). */
  readonly percentOrRatio?: true;
  /** Whether the factor stands in the HELP text, as `(in us)` or `(in ns)`. */
  readonly timeByHelp?: true;
}

/** A name under which an exporter gives a canonical metric, where its labels have the given values. */
export interface Alias {
  readonly column: string;
  readonly reading: Reading;
  readonly when?: Readonly<Record<string, string>>;
  /**
   * The label that has the canonical value, where the value of a series is the time at which that was so: of the series of a row the
   * latest counts.
   */
  readonly codeLabel?: string;
  /** Where one page gives a column under two names, the lower rank counts; the other is kept under its own name. */
  readonly rank: number;
}

/** The fields of a device that a label can fill. */
export type DeviceField =
  | Exclude<keyof Device, "claim" | "labels" | "repeatsGpu" | "repeatsDevice">
  | `claim.${keyof DeviceClaim}`;

/** One vendor's exporter. */
export interface Dialect {
  readonly exporter: string;
  /** Whether its page is read below an exporter's: the exporter's values and name count then. */
  readonly isCompanion?: true;
  /** Its names of the canonical metrics. */
  readonly table: readonly AliasRow[];
  /** Whether a metric's name is this exporter's. */
  readonly owns: (name: string) => boolean;
  /** Names of which a page has one where it is this exporter's; left out where no other program has names that are alike. */
  readonly marks?: (name: string) => boolean;
  /** The aliases of a metric's name, in the order in which they are tried; none for an unknown metric. */
  readonly aliases: (name: string) => readonly Alias[];
  /** Labels that fill a field of the device, in lower case: re-exports and relabelling write names in any case. */
  readonly fields: Readonly<Record<string, DeviceField>>;
  /** Labels that name neither device nor holder, in lower case. */
  readonly ignored: ReadonlySet<string>;
  /** Labels of entities that are not GPUs, in lower case: links, switches, CPUs. */
  readonly foreign: ReadonlySet<string>;
  /** Mends what the fields alone cannot say; the names of the labels are in lower case. */
  readonly refine?: (device: Device, labels: ReadonlyMap<string, string>) => Device;
  /** The devices of a host with those that are parts of one GPU under that GPU, in the same order. */
  readonly fold?: (devices: readonly Device[]) => readonly Device[];
}

/** A value that is only multiplied; it cannot be negative. */
export const number = (factor = 1): Reading => ({ factor, least: 0, most: Number.POSITIVE_INFINITY });
/** 0..100, made a ratio. Exporters overshoot by a rounding error: up to 1 % above is the whole. */
export const percent: Reading = { factor: 0.01, least: 0, most: 1 };
/** 0..1, whatever the HELP text says. */
export const ratio: Reading = { factor: 1, least: 0, most: 1 };
/** 0..100 or 0..1 under the same name. */
export const percentOrRatio: Reading = { factor: 1, least: 0, most: 1, percentOrRatio: true };
/** Degrees, and distances between them, which can be negative. */
export const celsius: Reading = { factor: 1, least: -273.15, most: 1000 };
/** Degrees where 0 says that the GPU cannot tell. */
export const celsiusOrUnsupported: Reading = { ...celsius, zeroMeansUnsupported: true };
/** A duration in the unit that the HELP text names; without one, microseconds, as dcgm-exporter's counters say. */
export const timeByHelp: Reading = { ...number(1e-6), timeByHelp: true };

/** A row of an alias table: the column, how it is read, and its names from the preferred one down. */
export type AliasRow = readonly [
  column: string,
  reading: Reading,
  ...names: readonly (string | readonly [name: string, when: Readonly<Record<string, string>>] | LabelledCode)[],
];

/** A metric whose values are times, each of the code in a label. */
interface LabelledCode {
  readonly times: string;
  readonly codeLabel: string;
}

/**
 * The look-up of an alias table, by the name in upper case: custom counter files write names in either case. OpenMetrics puts
 * `_total` behind the name of a counter (https://prometheus.io/docs/specs/om/open_metrics_spec/#counter).
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

/** The name of a metric's family: a counter's is without `_total`. */
export function familyOf(name: string): string {
  return name.replace(/_total$/i, "");
}

const NONE: readonly Alias[] = [];
