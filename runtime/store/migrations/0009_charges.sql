-- What a run was made of, where that is not samples: a charge's usage run, price book, owners and policies. Equal bases give equal
-- rows.
ALTER TABLE runs $ON_CLUSTER ADD COLUMN IF NOT EXISTS basis String;

-- What it cost, line by line under each kept policy (ledger, "Charges"): money and GPU-hours are exact decimals, NULL is
-- "unpriced". state is a state of a share, or non-gpu, unused commitment, markup, true-up. payer 'spread' is what a policy
-- spreads over more than an hour: the platform's as long as its window lasts. share_millis is an exact fraction. The trail: the
-- segment of usage_hours has the same cluster, node, slot and time in the run's basis; price, since when it held, and the
-- rules that named the owners are by their places in the configuration.
CREATE TABLE IF NOT EXISTS charges $ON_CLUSTER (
  run_id UUID,
  policy LowCardinality(String),
  cluster LowCardinality(String),
  node LowCardinality(String),
  slot Nullable(UInt16),
  from_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  until_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
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
  holder String CODEC(ZSTD(1)),
  namespace LowCardinality(String),
  pod String CODEC(ZSTD(1)),
  workload_kind LowCardinality(String),
  workload String CODEC(ZSTD(1)),
  workload_type LowCardinality(String),
  queue LowCardinality(String),
  priority_class LowCardinality(String),
  labels Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  attribution LowCardinality(String),
  raw_share LowCardinality(String),
  share LowCardinality(String),
  share_millis String CODEC(ZSTD(1)),
  gpu_hours Decimal(38, 9) CODEC(ZSTD(1)),
  list_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  contracted_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  effective_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  price LowCardinality(String),
  priced_since DateTime64(3, 'UTC') CODEC(ZSTD(1)),
  team_rule LowCardinality(String),
  cost_center_rule LowCardinality(String),
  project_rule LowCardinality(String),
  environment_rule LowCardinality(String)
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMM(from_at)
ORDER BY (policy, team, cluster, from_at, node, run_id)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- What readers see: of each window the latest published run of the highest generation.
CREATE VIEW IF NOT EXISTS charges_published $ON_CLUSTER AS
SELECT * FROM charges
WHERE run_id IN (
  SELECT argMax(run_id, (generation, published_at, toString(run_id))) FROM runs
  WHERE kind = 'charge'
  GROUP BY cluster, window_start
);
