-- What was computed, by whom, from what. Three kinds of rows:
-- - election: a leader's generation, written before it does anything. Its other columns are empty.
-- - started: a run that may have rows in the tables below; none of them count yet.
-- - rollup: the run is published. This one insert makes its rows visible together.
-- The watermark says, for each partition of the bus, below which position all input had been considered; scrapes how many
-- scrapes touched the window, from which a later leader sees whether more have come since. Every time is given by the
-- caller. All of a row but its measures is the key, so that an insert that comes twice is one row.
CREATE TABLE IF NOT EXISTS runs $ON_CLUSTER (
  kind LowCardinality(String),
  cluster LowCardinality(String),
  window_start DateTime('UTC'),
  window_end DateTime('UTC'),
  run_id UUID,
  generation UInt64,
  watermark Map(UInt32, UInt64),
  scrapes UInt64,
  rows UInt64,
  hash UInt64,
  published_at DateTime64(3, 'UTC')
)
ENGINE = $ENGINE(ReplacingMergeTree)
ORDER BY (kind, cluster, window_start, window_end, run_id)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- Five minutes of a device in the hands of one holder. A sample speaks for the time up to the next one of its device, for
-- 2.5 of its intervals at most; covered_ms is that time within the bucket.
--
-- scope = 'device': the device's own time, once per device: sum these. The holder is who had it alone; where several pods
-- shared it (shared) there is none, as the device's values belong to none of them. scope = 'process': the time in which
-- one pod shared the device, with the pod's own part of its values. Never sum the two scopes.
--
-- Sums are exact integers: x_ppm_ms is the sum of parts per million times milliseconds, x_ms the time in which x was
-- measured, so that x_ppm_ms / x_ms is the mean. Maxima, codes and reasons are of all samples that speak for a part of
-- the bucket. Values of the whole GPU that are summed (power, energy, increases) are 0 where another device's rows, of the
-- GPU's first instance, have them. An increase is of a counter between two samples of a device with no gap in between;
-- where the counter fell, it counts from 0. Energy is spread over the time between its readings (energy_ms), the increase
-- of an error counter stands where the later reading ends the time of the earlier one.
CREATE TABLE IF NOT EXISTS gpu_5m $ON_CLUSTER (
  run_id UUID,
  cluster LowCardinality(String),
  node LowCardinality(String),
  gpu_key String CODEC(ZSTD(1)),
  instance LowCardinality(String),
  scope LowCardinality(String),
  shared Bool CODEC(ZSTD(1)),
  holder_namespace LowCardinality(String),
  holder_pod LowCardinality(String),
  bucket DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  gpu LowCardinality(String),
  model LowCardinality(String),
  profile LowCardinality(String),
  pod_uid LowCardinality(String),
  container LowCardinality(String),
  evidence LowCardinality(String),
  samples UInt32 CODEC(ZSTD(1)),
  first_at DateTime64(3, 'UTC') CODEC(ZSTD(1)),
  last_at DateTime64(3, 'UTC') CODEC(ZSTD(1)),
  covered_ms UInt64 CODEC(ZSTD(1)),
  activity_ms UInt64 CODEC(ZSTD(1)),
  activity_ppm_ms UInt64 CODEC(ZSTD(1)),
  activity_max_ppm Nullable(UInt32) CODEC(ZSTD(1)),
  process_activity_ms UInt64 CODEC(ZSTD(1)),
  process_activity_ppm_ms UInt64 CODEC(ZSTD(1)),
  process_activity_max_ppm Nullable(UInt32) CODEC(ZSTD(1)),
  gr_engine_ms UInt64 CODEC(ZSTD(1)),
  gr_engine_ppm_ms UInt64 CODEC(ZSTD(1)),
  sm_ms UInt64 CODEC(ZSTD(1)),
  sm_ppm_ms UInt64 CODEC(ZSTD(1)),
  tensor_ms UInt64 CODEC(ZSTD(1)),
  tensor_ppm_ms UInt64 CODEC(ZSTD(1)),
  dram_ms UInt64 CODEC(ZSTD(1)),
  dram_ppm_ms UInt64 CODEC(ZSTD(1)),
  fb_used_max_bytes Nullable(UInt64) CODEC(ZSTD(1)),
  fb_total_max_bytes Nullable(UInt64) CODEC(ZSTD(1)),
  process_fb_used_max_bytes Nullable(UInt64) CODEC(ZSTD(1)),
  power_ms UInt64 CODEC(ZSTD(1)),
  power_mw_ms UInt64 CODEC(ZSTD(1)),
  power_max_mw Nullable(UInt64) CODEC(ZSTD(1)),
  temperature_max_celsius Nullable(Decimal(9, 3)) CODEC(ZSTD(1)),
  memory_temperature_max_celsius Nullable(Decimal(9, 3)) CODEC(ZSTD(1)),
  energy_ms UInt64 CODEC(ZSTD(1)),
  energy_mj UInt64 CODEC(ZSTD(1)),
  clocks_event_reasons UInt64 CODEC(ZSTD(1)),
  xid_codes Array(UInt32) CODEC(ZSTD(1)),
  ecc_sbe_increase UInt64 CODEC(ZSTD(1)),
  ecc_dbe_increase UInt64 CODEC(ZSTD(1)),
  correctable_remapped_rows_increase UInt64 CODEC(ZSTD(1)),
  uncorrectable_remapped_rows_increase UInt64 CODEC(ZSTD(1)),
  pcie_replay_increase UInt64 CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMMDD(bucket)
ORDER BY (cluster, node, gpu_key, instance, scope, holder_namespace, holder_pod, shared, bucket, run_id)
$TTL(fiveMinutes, bucket)
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- The same by the hour, kept for years.
CREATE TABLE IF NOT EXISTS gpu_hours $ON_CLUSTER (
  run_id UUID,
  cluster LowCardinality(String),
  node LowCardinality(String),
  gpu_key String CODEC(ZSTD(1)),
  instance LowCardinality(String),
  scope LowCardinality(String),
  shared Bool CODEC(ZSTD(1)),
  holder_namespace LowCardinality(String),
  holder_pod LowCardinality(String),
  bucket DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  gpu LowCardinality(String),
  model LowCardinality(String),
  profile LowCardinality(String),
  pod_uid LowCardinality(String),
  container LowCardinality(String),
  evidence LowCardinality(String),
  samples UInt32 CODEC(ZSTD(1)),
  first_at DateTime64(3, 'UTC') CODEC(ZSTD(1)),
  last_at DateTime64(3, 'UTC') CODEC(ZSTD(1)),
  covered_ms UInt64 CODEC(ZSTD(1)),
  activity_ms UInt64 CODEC(ZSTD(1)),
  activity_ppm_ms UInt64 CODEC(ZSTD(1)),
  activity_max_ppm Nullable(UInt32) CODEC(ZSTD(1)),
  process_activity_ms UInt64 CODEC(ZSTD(1)),
  process_activity_ppm_ms UInt64 CODEC(ZSTD(1)),
  process_activity_max_ppm Nullable(UInt32) CODEC(ZSTD(1)),
  gr_engine_ms UInt64 CODEC(ZSTD(1)),
  gr_engine_ppm_ms UInt64 CODEC(ZSTD(1)),
  sm_ms UInt64 CODEC(ZSTD(1)),
  sm_ppm_ms UInt64 CODEC(ZSTD(1)),
  tensor_ms UInt64 CODEC(ZSTD(1)),
  tensor_ppm_ms UInt64 CODEC(ZSTD(1)),
  dram_ms UInt64 CODEC(ZSTD(1)),
  dram_ppm_ms UInt64 CODEC(ZSTD(1)),
  fb_used_max_bytes Nullable(UInt64) CODEC(ZSTD(1)),
  fb_total_max_bytes Nullable(UInt64) CODEC(ZSTD(1)),
  process_fb_used_max_bytes Nullable(UInt64) CODEC(ZSTD(1)),
  power_ms UInt64 CODEC(ZSTD(1)),
  power_mw_ms UInt64 CODEC(ZSTD(1)),
  power_max_mw Nullable(UInt64) CODEC(ZSTD(1)),
  temperature_max_celsius Nullable(Decimal(9, 3)) CODEC(ZSTD(1)),
  memory_temperature_max_celsius Nullable(Decimal(9, 3)) CODEC(ZSTD(1)),
  energy_ms UInt64 CODEC(ZSTD(1)),
  energy_mj UInt64 CODEC(ZSTD(1)),
  clocks_event_reasons UInt64 CODEC(ZSTD(1)),
  xid_codes Array(UInt32) CODEC(ZSTD(1)),
  ecc_sbe_increase UInt64 CODEC(ZSTD(1)),
  ecc_dbe_increase UInt64 CODEC(ZSTD(1)),
  correctable_remapped_rows_increase UInt64 CODEC(ZSTD(1)),
  uncorrectable_remapped_rows_increase UInt64 CODEC(ZSTD(1)),
  pcie_replay_increase UInt64 CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMM(bucket)
ORDER BY (cluster, node, gpu_key, instance, scope, holder_namespace, holder_pod, shared, bucket, run_id)
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- What readers see: of each window the latest published run of the highest generation.
CREATE VIEW IF NOT EXISTS gpu_5m_published $ON_CLUSTER AS
SELECT * FROM gpu_5m
WHERE run_id IN (
  SELECT argMax(run_id, (generation, published_at, toString(run_id))) FROM runs
  WHERE kind = 'rollup'
  GROUP BY cluster, window_start
);

CREATE VIEW IF NOT EXISTS gpu_hours_published $ON_CLUSTER AS
SELECT * FROM gpu_hours
WHERE run_id IN (
  SELECT argMax(run_id, (generation, published_at, toString(run_id))) FROM runs
  WHERE kind = 'rollup'
  GROUP BY cluster, window_start
);
