-- What the watchers of clusters said, fact by fact, for years: what was true at any moment is answered from here. A fact's
-- order stands in itself (epoch, version, ended, seen_at) and all of it is the key, so that a replay is the same row and a
-- late fact falls into its place. `fact` is the whole message as JSON; the columns before it are what is asked for by SQL.
-- version is resourceVersion as a number, 0 where it is none. at is when the state was seen, by the API server's clock; of an
-- end, when the object went (inferred: it was gone when the watcher came back, and at is when it was seen last).
CREATE TABLE IF NOT EXISTS workload_facts $ON_CLUSTER (
  cluster LowCardinality(String),
  uid String CODEC(ZSTD(1)),
  epoch UInt64,
  version UInt64,
  ended Bool,
  seen_at DateTime64(3, 'UTC'),
  at DateTime64(3, 'UTC'),
  inferred Bool,
  namespace LowCardinality(String),
  pod String CODEC(ZSTD(1)),
  node LowCardinality(String),
  workload_kind LowCardinality(String),
  workload String CODEC(ZSTD(1)),
  workload_type LowCardinality(String),
  phase LowCardinality(String),
  queue LowCardinality(String),
  priority_class LowCardinality(String),
  created_at DateTime64(3, 'UTC'),
  scheduled_at Nullable(DateTime64(3, 'UTC')),
  started_at Nullable(DateTime64(3, 'UTC')),
  finished_at Nullable(DateTime64(3, 'UTC')),
  fact String CODEC(ZSTD(3))
)
ENGINE = $ENGINE(ReplacingMergeTree)
ORDER BY (cluster, uid, epoch, version, ended, seen_at)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS inventory_facts $ON_CLUSTER (
  cluster LowCardinality(String),
  node LowCardinality(String),
  epoch UInt64,
  version UInt64,
  ended Bool,
  seen_at DateTime64(3, 'UTC'),
  at DateTime64(3, 'UTC'),
  inferred Bool,
  uid String CODEC(ZSTD(1)),
  joined_at DateTime64(3, 'UTC'),
  gpus UInt32,
  model LowCardinality(String),
  instance_type LowCardinality(String),
  region LowCardinality(String),
  zone LowCardinality(String),
  pool LowCardinality(String),
  capacity_type LowCardinality(String),
  ready Bool,
  cordoned_at Nullable(DateTime64(3, 'UTC')),
  fact String CODEC(ZSTD(3))
)
ENGINE = $ENGINE(ReplacingMergeTree)
ORDER BY (cluster, node, epoch, version, ended, seen_at)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS cluster_facts $ON_CLUSTER (
  cluster LowCardinality(String),
  kind LowCardinality(String),
  namespace LowCardinality(String),
  name String CODEC(ZSTD(1)),
  epoch UInt64,
  version UInt64,
  ended Bool,
  seen_at DateTime64(3, 'UTC'),
  at DateTime64(3, 'UTC'),
  inferred Bool,
  uid String CODEC(ZSTD(1)),
  fact String CODEC(ZSTD(3))
)
ENGINE = $ENGINE(ReplacingMergeTree)
ORDER BY (cluster, kind, namespace, name, uid, epoch, version, ended, seen_at)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- The same as history: each state from when it was true until the next one. A fact that is older by its clock than the one
-- before it (two watchers' clocks) begins with the one before and takes no time from it. An end has no state of its own.
CREATE VIEW IF NOT EXISTS workloads $ON_CLUSTER AS
SELECT * EXCEPT (ended)
FROM (
  SELECT *, leadInFrame(valid_from, 1, toDateTime64('2299-12-31 00:00:00', 3, 'UTC')) OVER (
    PARTITION BY cluster, uid ORDER BY epoch, version, ended, seen_at
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_until
  FROM (
    SELECT *, max(at) OVER (
      PARTITION BY cluster, uid ORDER BY epoch, version, ended, seen_at
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS valid_from
    FROM workload_facts FINAL
  )
)
WHERE NOT ended AND valid_until > valid_from;

CREATE VIEW IF NOT EXISTS inventory $ON_CLUSTER AS
SELECT * EXCEPT (ended)
FROM (
  SELECT *, leadInFrame(valid_from, 1, toDateTime64('2299-12-31 00:00:00', 3, 'UTC')) OVER (
    PARTITION BY cluster, node ORDER BY epoch, version, ended, seen_at
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_until
  FROM (
    SELECT *, max(at) OVER (
      PARTITION BY cluster, node ORDER BY epoch, version, ended, seen_at
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS valid_from
    FROM inventory_facts FINAL
  )
)
WHERE NOT ended AND valid_until > valid_from;

CREATE VIEW IF NOT EXISTS cluster_history $ON_CLUSTER AS
SELECT * EXCEPT (ended)
FROM (
  SELECT *, leadInFrame(valid_from, 1, toDateTime64('2299-12-31 00:00:00', 3, 'UTC')) OVER (
    PARTITION BY cluster, kind, uid ORDER BY epoch, version, ended, seen_at
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_until
  FROM (
    SELECT *, max(at) OVER (
      PARTITION BY cluster, kind, uid ORDER BY epoch, version, ended, seen_at
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS valid_from
    FROM cluster_facts FINAL
  )
)
WHERE NOT ended AND valid_until > valid_from;
