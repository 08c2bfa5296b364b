-- What the meter wants to be measured: the parts of devices and of time that somebody holds, of one run, while it runs. The
-- partition of a run goes when its sums are read. occupant_ppm is the equal part of each pod on the device.
CREATE TABLE IF NOT EXISTS meter_plan $ON_CLUSTER (
  run String,
  series LowCardinality(String),
  ordinal UInt32,
  node String,
  gpu_key String,
  instance String,
  pod String,
  from_ms Int64,
  until_ms Int64,
  since_ms Int64,
  claim_ppm UInt32,
  claims_ppm UInt32,
  occupant_ppm UInt32
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY run
ORDER BY (series, node, gpu_key, instance)
SETTINGS non_replicated_deduplication_window = 0;

-- On which device a label showed a pod first: one agreeing label proves the device for the pod's whole time, in hours without a
-- sample too.
CREATE TABLE IF NOT EXISTS label_proofs $ON_CLUSTER (
  cluster LowCardinality(String),
  node LowCardinality(String),
  namespace LowCardinality(String),
  pod String CODEC(ZSTD(1)),
  pod_uid String CODEC(ZSTD(1)),
  slot UInt16,
  instance LowCardinality(String),
  seen_at DateTime64(3, 'UTC') CODEC(ZSTD(1))
)
ENGINE = $ENGINE(ReplacingMergeTree)
PARTITION BY toYYYYMM(seen_at)
ORDER BY (cluster, node, namespace, pod, pod_uid, slot, instance, seen_at)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- What the meter found, untouched by any policy: a row for each slot and the longest time within one UTC hour in which its
-- claims, layout, state, prices and owners stay the same (ledger, "Closing"). The arrays go together, one element for each claim in
-- the order of ties: holders are pods' UIDs, or names of jobs; claims are JSON: what is held of the GPU, by which evidence, in
-- which stage, and who the holder is. Sums are exact integers, parts per million times milliseconds. gpu_at and place are
-- JSON: the GPU's layout; the machine as prices look at it.
CREATE TABLE IF NOT EXISTS usage_hours $ON_CLUSTER (
  run_id UUID,
  cluster LowCardinality(String),
  node LowCardinality(String),
  slot UInt16,
  from_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  until_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  gpu_key String CODEC(ZSTD(1)),
  gpu_at LowCardinality(String),
  place String CODEC(ZSTD(1)),
  because LowCardinality(String),
  cordoned Bool,
  busy_ms UInt32 CODEC(ZSTD(1)),
  holders Array(String) CODEC(ZSTD(1)),
  claims Array(String) CODEC(ZSTD(3)),
  samples Array(UInt32) CODEC(ZSTD(1)),
  first_at Array(DateTime64(3, 'UTC')) CODEC(ZSTD(1)),
  last_at Array(DateTime64(3, 'UTC')) CODEC(ZSTD(1)),
  covered_ms Array(UInt32) CODEC(ZSTD(1)),
  active_ms Array(UInt32) CODEC(ZSTD(1)),
  activity_ppm_ms Array(UInt64) CODEC(ZSTD(1)),
  activity_at_claims_ppm_ms Array(UInt64) CODEC(ZSTD(1)),
  activity_max_ppm Array(UInt32) CODEC(ZSTD(1)),
  memory_max_mib Array(UInt32) CODEC(ZSTD(1)),
  has_process Array(Bool) CODEC(ZSTD(1)),
  process_at_claim_ppm_ms Array(UInt64) CODEC(ZSTD(1)),
  process_at_occupant_ppm_ms Array(UInt64) CODEC(ZSTD(1)),
  process_ppm_ms Array(UInt64) CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMM(from_at)
ORDER BY (cluster, from_at, node, slot, run_id)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- What readers see: of each window the latest published run of the highest generation.
CREATE VIEW IF NOT EXISTS usage_hours_published $ON_CLUSTER AS
SELECT * FROM usage_hours
WHERE run_id IN (
  SELECT argMax(run_id, (generation, published_at, toString(run_id))) FROM runs
  WHERE kind = 'usage'
  GROUP BY cluster, window_start
);
