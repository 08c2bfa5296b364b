/** What the two rollups measure: one list from which both statements are made, so that their columns cannot part. */

/** Means over time: `<name>_ppm_ms` and `<name>_ms`, from parts per million in a sample. */
export const MEAN_MEASURES = ["activity", "process_activity", "gr_engine", "sm", "tensor", "dram"] as const;

/** Maxima: the column of the rollup is the column of the sample's entry. */
export const MAX_MEASURES = [
  "fb_used_max_bytes",
  "fb_total_max_bytes",
  "process_fb_used_max_bytes",
  "power_max_mw",
  "temperature_max_celsius",
  "memory_temperature_max_celsius",
] as const;

/** Error counters, by the column of the rollup and the column of `gpu_samples`. */
export const INCREASE_MEASURES = {
  ecc_sbe_increase: "ecc_sbe_volatile_total",
  ecc_dbe_increase: "ecc_dbe_volatile_total",
  correctable_remapped_rows_increase: "correctable_remapped_rows_total",
  uncorrectable_remapped_rows_increase: "uncorrectable_remapped_rows_total",
  pcie_replay_increase: "pcie_replay_total",
} as const;

/** What names a row of a rollup, its bucket and run left aside. */
export const ROW_KEY = [
  "cluster",
  "node",
  "gpu_key",
  "instance",
  "scope",
  "shared",
  "holder_namespace",
  "holder_pod",
] as const;

/** What is said of a device or holder: as the latest sample in the bucket has it. */
export const DESCRIPTIONS = ["gpu", "model", "profile", "pod_uid", "container", "evidence"] as const;

/** Every column of `gpu_5m` and `gpu_hours` but the run's. */
export const ROLLUP_COLUMNS: readonly string[] = [
  ...ROW_KEY,
  "bucket",
  ...DESCRIPTIONS,
  "samples",
  "first_at",
  "last_at",
  "covered_ms",
  ...MEAN_MEASURES.flatMap((name) => [`${name}_ms`, `${name}_ppm_ms`]),
  "activity_max_ppm",
  "process_activity_max_ppm",
  ...MAX_MEASURES,
  "power_ms",
  "power_mw_ms",
  "energy_ms",
  "energy_mj",
  "clocks_event_reasons",
  "xid_codes",
  ...Object.keys(INCREASE_MEASURES),
];
