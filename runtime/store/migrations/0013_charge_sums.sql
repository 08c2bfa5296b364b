-- Where lines are found by what few of them have, whatever they are ordered by: a node's, a pod's, a workload's.
ALTER TABLE charges $ON_CLUSTER
  ADD INDEX IF NOT EXISTS nodes node TYPE bloom_filter,
  ADD INDEX IF NOT EXISTS pods pod TYPE bloom_filter,
  ADD INDEX IF NOT EXISTS workloads workload TYPE bloom_filter;
ALTER TABLE charges $ON_CLUSTER MATERIALIZE INDEX nodes, MATERIALIZE INDEX pods, MATERIALIZE INDEX workloads;

-- Sums of the charges of an hour that agree in all that is told here, from_at being when the hour begins: what reports of months read
-- instead of lines. They are made of published runs by whoever reports, and can be dropped at any time. fill_id names a run and the
-- time that its sums were made: where that was broken off, there are rows that nobody reads.
CREATE TABLE IF NOT EXISTS charge_workload_sums $ON_CLUSTER (
  run_id UUID,
  fill_id UUID,
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
ORDER BY (policy, team, cluster, from_at, run_id)
SETTINGS non_replicated_deduplication_window = 0;

-- The same of all workloads of a namespace that agree in the rest.
CREATE TABLE IF NOT EXISTS charge_sums $ON_CLUSTER (
  run_id UUID,
  fill_id UUID,
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
ORDER BY (policy, team, cluster, from_at, run_id)
SETTINGS non_replicated_deduplication_window = 0;

-- The runs of which there are sums, and the fills that made them: each row is written after the sums. Where two servers made them,
-- both fills say the same, and the first by its id is read.
CREATE TABLE IF NOT EXISTS summed_runs $ON_CLUSTER (
  run_id UUID,
  fill_id UUID,
  window_start DateTime('UTC')
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMM(window_start)
ORDER BY (run_id, fill_id)
SETTINGS non_replicated_deduplication_window = 0;

-- Closings whose own run is summed, which is summed last.
CREATE VIEW IF NOT EXISTS summed_periods $ON_CLUSTER AS
SELECT billing_period, close_id FROM closed_periods WHERE close_id IN (SELECT run_id FROM summed_runs);

-- The runs that count among those of which there are sums, as charge_runs has them among all: what was published a moment ago and is
-- not summed yet has not come, instead of having left a gap.
CREATE VIEW IF NOT EXISTS summed_charge_runs $ON_CLUSTER AS
SELECT argMax(run_id, (generation, published_at, toString(run_id))) AS run_id
FROM (
  SELECT * FROM runs
  WHERE kind IN ('charge', 'correction') AND run_id IN (SELECT run_id FROM summed_runs)
    AND billing_period NOT IN (SELECT billing_period FROM summed_periods))
GROUP BY kind, cluster, window_start, billing_period
UNION ALL
SELECT run_id FROM closed_runs WHERE kind != 'usage' AND close_id IN (SELECT close_id FROM summed_periods);

CREATE VIEW IF NOT EXISTS charge_workload_sums_published $ON_CLUSTER AS
SELECT * FROM charge_workload_sums
WHERE fill_id IN (
    SELECT min(fill_id) FROM summed_runs WHERE run_id IN (SELECT run_id FROM summed_charge_runs) GROUP BY run_id)
  AND NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM summed_periods));

CREATE VIEW IF NOT EXISTS charge_sums_published $ON_CLUSTER AS
SELECT * FROM charge_sums
WHERE fill_id IN (
    SELECT min(fill_id) FROM summed_runs WHERE run_id IN (SELECT run_id FROM summed_charge_runs) GROUP BY run_id)
  AND NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM summed_periods));
