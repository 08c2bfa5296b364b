/** The columns of `gpu_5m` and `gpu_hours`, which are the same. The statements for both rollups are built from these lists. */

const TEXT = "LowCardinality(String)";
const SUM = "UInt64";

/** Means over time: `<name>_ppm_ms` and `<name>_ms`, from parts per million in a sample. */
export const MEAN_MEASURES = ["activity", "process_activity", "gr_engine", "sm", "tensor", "dram"] as const;

/** Maxima: the rollup's column has the same name as the field of the sample's entry. */
export const MAX_MEASURES = {
  fb_used_max_bytes: "Nullable(UInt64)",
  fb_total_max_bytes: "Nullable(UInt64)",
  process_fb_used_max_bytes: "Nullable(UInt64)",
  power_max_mw: "Nullable(UInt64)",
  temperature_max_celsius: "Nullable(Decimal(9, 3))",
  memory_temperature_max_celsius: "Nullable(Decimal(9, 3))",
} as const;

/** Error counters, from the rollup's column to the column of `gpu_samples`. */
export const INCREASE_MEASURES = {
  ecc_sbe_increase: "ecc_sbe_volatile_total",
  ecc_dbe_increase: "ecc_dbe_volatile_total",
  correctable_remapped_rows_increase: "correctable_remapped_rows_total",
  uncorrectable_remapped_rows_increase: "uncorrectable_remapped_rows_total",
  pcie_replay_increase: "pcie_replay_total",
} as const;

/** The columns that identify a row of a rollup, in addition to its bucket and run. */
export const ROW_KEY = {
  cluster: TEXT,
  node: TEXT,
  gpu_key: "String",
  instance: TEXT,
  scope: TEXT,
  shared: "Bool",
  holder_namespace: TEXT,
  holder_pod: TEXT,
} as const;

/** Descriptions of a device or holder, from the latest sample in the bucket. */
export const DESCRIPTIONS = ["gpu", "model", "profile", "pod_uid", "container", "evidence"] as const;

const typed = <Type extends string>(names: readonly string[], type: Type): Readonly<Record<string, Type>> =>
  Object.fromEntries(names.map((name) => [name, type]));

/** Every column of `gpu_5m` and `gpu_hours` except the run's, with its ClickHouse type. */
export const ROLLUP_TYPES: Readonly<Record<string, string>> = {
  ...ROW_KEY,
  bucket: "DateTime('UTC')",
  ...typed(DESCRIPTIONS, TEXT),
  samples: "UInt32",
  first_at: "DateTime64(3, 'UTC')",
  last_at: "DateTime64(3, 'UTC')",
  covered_ms: SUM,
  ...typed(
    MEAN_MEASURES.flatMap((name) => [`${name}_ms`, `${name}_ppm_ms`]),
    SUM,
  ),
  activity_max_ppm: "Nullable(UInt32)",
  process_activity_max_ppm: "Nullable(UInt32)",
  ...MAX_MEASURES,
  power_ms: SUM,
  power_mw_ms: SUM,
  energy_ms: SUM,
  energy_mj: SUM,
  clocks_event_reasons: SUM,
  xid_codes: "Array(UInt32)",
  ...typed(Object.keys(INCREASE_MEASURES), SUM),
};

/** The names of {@link ROLLUP_TYPES}. */
export const ROLLUP_COLUMNS: readonly string[] = Object.keys(ROLLUP_TYPES);
