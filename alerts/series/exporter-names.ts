import { amd } from "../../domain/dialect/amd.ts";
import { celsius, number, type AliasRow, type Reading } from "../../domain/dialect/dialect.ts";
import { nvidiaDcgm } from "../../domain/dialect/nvidia-dcgm.ts";
import { METRIC_BY_NAME, MOST_OF_UNIT } from "../../domain/metric.ts";

/** Metrics of dcgm-exporter that only rules read: its own counts (README of 4.x, "DCGM_EXP"), and one more limit. */
const RULES_ONLY: readonly AliasRow[] = [
  ["xid_errors", number(), "DCGM_EXP_XID_ERRORS_COUNT"],
  ["clock_events", number(), "DCGM_EXP_CLOCK_EVENTS_COUNT"],
  ["health_status", number(), "DCGM_EXP_GPU_HEALTH_STATUS"],
  ["memory_max_operating_temperature_celsius", celsius, "DCGM_FI_DEV_MEM_MAX_OP_TEMP"],
];

/** Names of one vendor's metrics that are read in the same way. */
export interface NamesOfReading {
  readonly vendor: "nvidia" | "amd";
  readonly names: readonly string[];
  /** The factor from the raw value to the canonical unit. */
  readonly factor: number;
  /** The largest valid raw value. Values above it are DCGM's markers for "not supported", or errors. */
  readonly most: number;
  /** True if the page decides between percent and ratio. */
  readonly isPercentOrRatio: boolean;
}

/** Exporters overshoot a percent by a rounding error. */
const MOST_RATIO = 1.01;
/** The largest valid count. DCGM's 32-bit markers for "no value" (2147483632 and the three after it) are larger. */
const MOST_COUNT = 2_147_483_631;

/** The names under which dcgm-exporter 1.x to 4.9 and AMD's exporter give canonical metrics of one unit. */
export function namesOf(...columns: readonly string[]): readonly NamesOfReading[] {
  const found = new Map<string, { vendor: NamesOfReading["vendor"]; names: string[]; reading: Reading }>();
  const add = (vendor: NamesOfReading["vendor"], rows: readonly AliasRow[]): void => {
    for (const [column, reading, ...aliases] of rows) {
      const names = aliases.filter((alias) => typeof alias === "string");
      if (!columns.includes(column) || names.length === 0) continue;
      const key = `${vendor} ${reading.factor} ${reading.percentOrRatio ?? false}`;
      const entry = found.get(key) ?? { vendor, names: [], reading };
      entry.names.push(...(vendor === "amd" ? names.flatMap((name) => [name, `amd_${name}`]) : names));
      found.set(key, entry);
    }
  };
  add("nvidia", [...nvidiaDcgm.table, ...RULES_ONLY]);
  add("amd", amd.table);
  const most = mostOf(columns[0]!);
  return [...found.values()].map(({ vendor, names, reading: { factor, percentOrRatio } }) => ({
    vendor,
    names,
    factor,
    most: Math.floor((most / factor) * 100) / 100,
    isPercentOrRatio: percentOrRatio === true,
  }));
}

/** All names of some canonical metrics that one vendor's exporters give, whatever their units. */
export function namesOfVendor(vendor: NamesOfReading["vendor"], columns: readonly string[]): readonly string[] {
  const readings = columns.flatMap((column) => namesOf(column));
  return readings.filter((reading) => reading.vendor === vendor).flatMap(({ names }) => names);
}

/** Every name that {@link namesOf} can give. */
export function everyExporterName(): ReadonlySet<string> {
  const columns = [...METRIC_BY_NAME.keys(), ...RULES_ONLY.map(([column]) => column)];
  return new Set(columns.flatMap((column) => namesOf(column).flatMap(({ names }) => names)));
}

function mostOf(column: string): number {
  const unit = METRIC_BY_NAME.get(column)?.unit ?? (column.endsWith("_celsius") ? "celsius" : "count");
  if (unit === "ratio") return MOST_RATIO;
  return unit === "count" ? MOST_COUNT : MOST_OF_UNIT[unit];
}

/** Names that exist only on pages of DCGM 4.7 and later. On these pages a utilization that is called a ratio is a ratio. */
export const BASE_UNIT_NAMES: readonly string[] = [
  "DCGM_FI_DEV_SM_CLOCK_HERTZ",
  "DCGM_FI_DEV_FB_USED_BYTES",
  "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL",
];
