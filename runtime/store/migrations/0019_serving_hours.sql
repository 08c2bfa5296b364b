-- The work of an hour. A row is a pod that serves (`pod`), a page of it (`page`), or a model or tenant of a page (`engine`, `frontend`,
-- `gateway`). Times are milliseconds: served_ms and loading_ms of pods and pages, covered_ms and idle_ms of pages; running_ms and waiting_ms are
-- request-milliseconds. Counters are increases within the hour; resets counts the counters that began again, each of which has lost at most
-- one interval. replica names the pods that serve together.
CREATE TABLE IF NOT EXISTS serving_hours $ON_CLUSTER (
  run_id UUID,
  hour DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  cluster LowCardinality(String),
  namespace LowCardinality(String),
  workload_kind LowCardinality(String),
  workload String CODEC(ZSTD(1)),
  replica String CODEC(ZSTD(1)),
  pod String CODEC(ZSTD(1)),
  pod_uid String CODEC(ZSTD(1)),
  target LowCardinality(String),
  kind LowCardinality(String),
  exporter LowCardinality(String),
  model LowCardinality(String),
  adapter LowCardinality(String),
  tenant String CODEC(ZSTD(1)),
  scrapes UInt32 CODEC(ZSTD(1)),
  failures UInt32 CODEC(ZSTD(1)),
  served_ms UInt32 CODEC(ZSTD(1)),
  loading_ms UInt32 CODEC(ZSTD(1)),
  covered_ms UInt32 CODEC(ZSTD(1)),
  idle_ms UInt32 CODEC(ZSTD(1)),
  running_ms UInt64 CODEC(ZSTD(1)),
  waiting_ms UInt64 CODEC(ZSTD(1)),
  resets UInt32 CODEC(ZSTD(1)),
  prompt_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  computed_prompt_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  cached_device_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  cached_host_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  cached_external_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  cached_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  recomputed_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  generation_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  requests Nullable(UInt64) CODEC(ZSTD(1)),
  requests_stop Nullable(UInt64) CODEC(ZSTD(1)),
  requests_length Nullable(UInt64) CODEC(ZSTD(1)),
  requests_abort Nullable(UInt64) CODEC(ZSTD(1)),
  requests_error Nullable(UInt64) CODEC(ZSTD(1)),
  requests_other Nullable(UInt64) CODEC(ZSTD(1)),
  preemptions Nullable(UInt64) CODEC(ZSTD(1)),
  drafts Nullable(UInt64) CODEC(ZSTD(1)),
  draft_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  accepted_tokens Nullable(UInt64) CODEC(ZSTD(1)),
  inferences Nullable(UInt64) CODEC(ZSTD(1)),
  batches Nullable(UInt64) CODEC(ZSTD(1)),
  queue_us Nullable(UInt64) CODEC(ZSTD(1)),
  prefill_us Nullable(UInt64) CODEC(ZSTD(1)),
  decode_us Nullable(UInt64) CODEC(ZSTD(1)),
  gpu_prefill_us Nullable(UInt64) CODEC(ZSTD(1)),
  gpu_decode_us Nullable(UInt64) CODEC(ZSTD(1)),
  compute_us Nullable(UInt64) CODEC(ZSTD(1)),
  idle_us Nullable(UInt64) CODEC(ZSTD(1)),
  gigaflops Nullable(UInt64) CODEC(ZSTD(1)),
  read_megabytes Nullable(UInt64) CODEC(ZSTD(1)),
  written_megabytes Nullable(UInt64) CODEC(ZSTD(1)),
  spend_nanos Nullable(UInt64) CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMM(hour)
ORDER BY (cluster, hour, namespace, workload, pod, target, kind, model, tenant, run_id)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

CREATE VIEW IF NOT EXISTS serving_hours_published $ON_CLUSTER AS
SELECT * FROM serving_hours
WHERE run_id IN (
  SELECT argMax(run_id, (generation, published_at, toString(run_id))) FROM runs
  WHERE kind = 'serving'
  GROUP BY cluster, window_start
);

-- The charges of services, split over phases, models and tenants, under each policy and each rule. They belong to the run of the charges
-- that they split, and sum to the charges of the workload's pods in that run. saved is the effective cost that cached tokens would have
-- added; spend_nanos is what a gateway has charged by its price list, in 10^-9 of its currency.
CREATE TABLE IF NOT EXISTS serving_charges $ON_CLUSTER (
  run_id UUID,
  policy LowCardinality(String),
  rule LowCardinality(String),
  billing_period Date,
  corrects String CODEC(ZSTD(1)),
  hour DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  cluster LowCardinality(String),
  namespace LowCardinality(String),
  workload_kind LowCardinality(String),
  workload String CODEC(ZSTD(1)),
  model LowCardinality(String),
  adapter LowCardinality(String),
  tenant String CODEC(ZSTD(1)),
  phase LowCardinality(String),
  basis LowCardinality(String),
  payer LowCardinality(String),
  team LowCardinality(String),
  cost_center LowCardinality(String),
  project LowCardinality(String),
  environment LowCardinality(String),
  gpu_model LowCardinality(String),
  gpu_hours Decimal(38, 9) CODEC(ZSTD(1)),
  list_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  contracted_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  effective_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  power_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  energy_mj Nullable(Decimal(38, 0)) CODEC(ZSTD(1)),
  carbon_grams Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  saved_cost Decimal(38, 9) CODEC(ZSTD(1)),
  computed_tokens Int64 CODEC(ZSTD(1)),
  cached_tokens Int64 CODEC(ZSTD(1)),
  generated_tokens Int64 CODEC(ZSTD(1)),
  requests Int64 CODEC(ZSTD(1)),
  inferences Int64 CODEC(ZSTD(1)),
  excess_tokens Int64 CODEC(ZSTD(1)),
  spend_nanos Int64 CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMM(hour)
ORDER BY (policy, rule, team, cluster, hour, namespace, workload, run_id)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

CREATE VIEW IF NOT EXISTS serving_charges_published $ON_CLUSTER AS
SELECT * FROM serving_charges
WHERE run_id IN (SELECT run_id FROM charge_runs);
