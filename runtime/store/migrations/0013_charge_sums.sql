-- Where lines are found by what few of them have, whatever they are ordered by: a node's, a pod's, a workload's.
ALTER TABLE charges $ON_CLUSTER
  ADD INDEX IF NOT EXISTS nodes node TYPE bloom_filter,
  ADD INDEX IF NOT EXISTS pods pod TYPE bloom_filter,
  ADD INDEX IF NOT EXISTS workloads workload TYPE bloom_filter;
ALTER TABLE charges $ON_CLUSTER MATERIALIZE INDEX nodes, MATERIALIZE INDEX pods, MATERIALIZE INDEX workloads;

-- Sums of the charges of an hour, or of a day, that agree in all that is told here, from_at being when it begins: what reports of
-- months read instead of lines. They are made of published runs by whoever reports, and can be dropped at any time. run_id is the
-- run, or names a day's runs; part_id is another one each time that the sums of these are made: where that was broken off, there
-- are rows that nobody reads.
CREATE TABLE IF NOT EXISTS charge_workload_sums $ON_CLUSTER (
  run_id UUID,
  part_id UUID,
  policy LowCardinality(String),
  billing_period Date,
  corrects LowCardinality(String),
  cluster LowCardinality(String),
  from_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  gpu_model LowCardinality(String),
  instance_type LowCardinality(String),
  region LowCardinality(String),
  zone LowCardinality(String),
  pool LowCardinality(String),
  capacity_type LowCardinality(String),
  state LowCardinality(String),
  because LowCardinality(String),
  payer LowCardinality(String),
  team LowCardinality(String),
  cost_center LowCardinality(String),
  project LowCardinality(String),
  environment LowCardinality(String),
  is_held Bool,
  namespace LowCardinality(String),
  workload_kind LowCardinality(String),
  workload String CODEC(ZSTD(1)),
  workload_type LowCardinality(String),
  queue LowCardinality(String),
  priority_class LowCardinality(String),
  attribution LowCardinality(String),
  price LowCardinality(String),
  priced_since DateTime64(3, 'UTC') CODEC(ZSTD(1)),
  team_rule LowCardinality(String),
  lines UInt64 CODEC(ZSTD(1)),
  dearest Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  gpu_hours Decimal(38, 9) CODEC(ZSTD(1)),
  list_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  contracted_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  effective_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  power_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  energy_mj Nullable(Decimal(38, 0)) CODEC(ZSTD(1)),
  carbon_grams Nullable(Decimal(38, 9)) CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMM(from_at)
ORDER BY (policy, from_at, team, cluster, run_id)
SETTINGS non_replicated_deduplication_window = 0;

-- The same of all workloads of a namespace that agree in the rest.
CREATE TABLE IF NOT EXISTS charge_sums $ON_CLUSTER (
  run_id UUID,
  part_id UUID,
  policy LowCardinality(String),
  billing_period Date,
  corrects LowCardinality(String),
  cluster LowCardinality(String),
  from_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  gpu_model LowCardinality(String),
  instance_type LowCardinality(String),
  region LowCardinality(String),
  zone LowCardinality(String),
  pool LowCardinality(String),
  capacity_type LowCardinality(String),
  state LowCardinality(String),
  because LowCardinality(String),
  payer LowCardinality(String),
  team LowCardinality(String),
  cost_center LowCardinality(String),
  project LowCardinality(String),
  environment LowCardinality(String),
  is_held Bool,
  namespace LowCardinality(String),
  workload_kind LowCardinality(String),
  workload_type LowCardinality(String),
  queue LowCardinality(String),
  priority_class LowCardinality(String),
  attribution LowCardinality(String),
  price LowCardinality(String),
  priced_since DateTime64(3, 'UTC') CODEC(ZSTD(1)),
  team_rule LowCardinality(String),
  lines UInt64 CODEC(ZSTD(1)),
  dearest Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  gpu_hours Decimal(38, 9) CODEC(ZSTD(1)),
  list_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  contracted_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  effective_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  power_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  energy_mj Nullable(Decimal(38, 0)) CODEC(ZSTD(1)),
  carbon_grams Nullable(Decimal(38, 9)) CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMM(from_at)
ORDER BY (policy, from_at, team, cluster, run_id)
SETTINGS non_replicated_deduplication_window = 0;

-- The parts that are whole: each row is written after the sums. Where two servers made them, both parts say the same, and the first by
-- its id is read. runs is what a part is of: one run, or those of a day.
CREATE TABLE IF NOT EXISTS charge_sum_parts $ON_CLUSTER (
  run_id UUID,
  part_id UUID,
  window_start DateTime('UTC'),
  runs Array(UUID)
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMM(window_start)
ORDER BY (window_start, run_id, part_id)
SETTINGS non_replicated_deduplication_window = 0;
