-- Every attempt to read the page of an inference engine or a gateway, failed ones too. As in `scrapes`, the key has only what the attempt
-- itself has, and (partition, position) is the place on the bus.
CREATE TABLE IF NOT EXISTS serving_scrapes $ON_CLUSTER (
  cluster LowCardinality(String),
  node LowCardinality(String),
  namespace LowCardinality(String),
  pod String CODEC(ZSTD(1)),
  pod_uid String CODEC(ZSTD(1)),
  target LowCardinality(String),
  scraped_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  interval_ms UInt32 CODEC(ZSTD(1)),
  collector LowCardinality(String),
  epoch DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  sequence UInt64 CODEC(DoubleDelta, ZSTD(1)),
  duration_us UInt32 CODEC(ZSTD(1)),
  exporter LowCardinality(String),
  series UInt32 CODEC(ZSTD(1)),
  failure LowCardinality(String),
  failure_detail String CODEC(ZSTD(1)),
  dropped Map(LowCardinality(String), UInt32) CODEC(ZSTD(1)),
  partition UInt32 CODEC(ZSTD(1)),
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
)
ENGINE = $ENGINE(ReplacingMergeTree)
PARTITION BY toYYYYMMDD(scraped_at)
ORDER BY (cluster, target, scraped_at, collector, epoch, sequence)
$TTL(raw, toDateTime(scraped_at))
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- One wide row for each model, part or tenant of a page and scrape. All values are whole numbers; NULL means that the page does not have
-- the value.
CREATE TABLE IF NOT EXISTS serving_samples $ON_CLUSTER (
  cluster LowCardinality(String),
  node LowCardinality(String),
  namespace LowCardinality(String),
  pod String CODEC(ZSTD(1)),
  pod_uid String CODEC(ZSTD(1)),
  target LowCardinality(String),
  scraped_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  interval_ms UInt32 CODEC(ZSTD(1)),
  exporter LowCardinality(String),
  kind LowCardinality(String),
  model LowCardinality(String),
  adapter LowCardinality(String),
  part LowCardinality(String),
  tenant String CODEC(ZSTD(1)),
  prompt_tokens Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  computed_prompt_tokens Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  cached_device_tokens Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  cached_host_tokens Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  cached_external_tokens Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  cached_tokens Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  recomputed_tokens Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  generation_tokens Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  requests Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  requests_stop Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  requests_length Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  requests_abort Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  requests_error Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  requests_other Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  preemptions Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  drafts Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  draft_tokens Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  accepted_tokens Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  inferences Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  batches Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  queue_us Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  prefill_us Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  decode_us Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  gpu_prefill_us Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  gpu_decode_us Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  compute_us Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  idle_us Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  gigaflops Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  read_megabytes Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  written_megabytes Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  spend_nanos Nullable(UInt64) CODEC(DoubleDelta, ZSTD(1)),
  running Nullable(UInt64) CODEC(ZSTD(1)),
  waiting Nullable(UInt64) CODEC(ZSTD(1)),
  kv_cache_ppm Nullable(UInt64) CODEC(ZSTD(1)),
  asleep Nullable(UInt64) CODEC(ZSTD(1)),
  created_ms Nullable(UInt64) CODEC(ZSTD(1))
)
ENGINE = $ENGINE(ReplacingMergeTree)
PARTITION BY toYYYYMMDD(scraped_at)
ORDER BY (cluster, target, kind, exporter, model, adapter, part, tenant, scraped_at)
$TTL(raw, toDateTime(scraped_at))
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 0, fsync_after_insert = 1;
