-- The billing period that lines are booked in, by its first day: of a charge the month that it is of, of a correction the one that
-- was open when it was made. corrects names the closing whose lines a correction changes; it is empty for every other line.
ALTER TABLE charges $ON_CLUSTER
  ADD COLUMN IF NOT EXISTS billing_period Date DEFAULT toStartOfMonth(from_at) AFTER policy,
  ADD COLUMN IF NOT EXISTS corrects LowCardinality(String) AFTER billing_period;

ALTER TABLE runs $ON_CLUSTER ADD COLUMN IF NOT EXISTS billing_period Date DEFAULT toStartOfMonth(window_start);

-- Closings of billing periods, and dry runs of them. One row makes all of a closing true, and nothing takes it away. Of two closings
-- of one period the one that was recorded first, by the store's clock, is the closing: a row says it for whoever reads, and in all
-- other tables time is a parameter. policies is JSON, the billing policy first, as they were; document is the JSON of all that is
-- told here, and hash its SHA-256.
CREATE TABLE IF NOT EXISTS closings $ON_CLUSTER (
  billing_period Date,
  close_id UUID,
  kind LowCardinality(String),
  recorded_at DateTime64(6, 'UTC') DEFAULT now64(6),
  closed_at DateTime64(3, 'UTC'),
  closed_by String,
  why String,
  policy LowCardinality(String),
  policies String CODEC(ZSTD(1)),
  rules_hash String,
  price_book_hash String,
  currency LowCardinality(String),
  list_cost Decimal(38, 9),
  contracted_cost Decimal(38, 9),
  effective_cost Decimal(38, 9),
  correction_cost Decimal(38, 9),
  true_up_cost Decimal(38, 9),
  posted Decimal(38, 9),
  gpu_hours Decimal(38, 9),
  unpriced_gpu_hours Decimal(38, 9),
  held_gpu_hours Decimal(38, 9),
  unobserved_gpu_hours Decimal(38, 9),
  unowned_cost Decimal(38, 9),
  lines UInt64,
  hash String,
  document String CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYear(billing_period)
ORDER BY (billing_period, kind, close_id)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- The runs that a closing froze, of its hours and of the corrections booked in its period; kind 'close' is its own, with what was
-- spread over days or the period, and true-ups.
CREATE TABLE IF NOT EXISTS closed_runs $ON_CLUSTER (
  close_id UUID,
  billing_period Date,
  kind LowCardinality(String),
  cluster LowCardinality(String),
  window_start DateTime('UTC'),
  run_id UUID,
  frozen_at DateTime64(3, 'UTC')
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYear(billing_period)
ORDER BY (close_id, kind, cluster, window_start)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- What a closing froze of each team and cost centre under the billing policy. Costs are exact, posted is in minor units. document is
-- the statement as JSON, lines_hash is of all its lines, hash of the document.
CREATE TABLE IF NOT EXISTS statements $ON_CLUSTER (
  close_id UUID,
  billing_period Date,
  team LowCardinality(String),
  cost_center LowCardinality(String),
  list_cost Decimal(38, 9),
  contracted_cost Decimal(38, 9),
  effective_cost Decimal(38, 9),
  correction_cost Decimal(38, 9),
  true_up_cost Decimal(38, 9),
  posted Decimal(38, 9),
  gpu_hours Decimal(38, 9),
  unpriced_gpu_hours Decimal(38, 9),
  held_gpu_hours Decimal(38, 9),
  unobserved_gpu_hours Decimal(38, 9),
  lines UInt64,
  lines_hash String,
  hash String,
  document String CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYear(billing_period)
ORDER BY (billing_period, close_id, team, cost_center)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- Sums of charges that were not exact, as they were found: such a run is not published. One stands as long as nothing newer is.
CREATE TABLE IF NOT EXISTS breaches $ON_CLUSTER (
  cluster LowCardinality(String),
  window_start DateTime('UTC'),
  policy LowCardinality(String),
  node LowCardinality(String),
  slot String,
  what LowCardinality(String),
  expected String,
  found String,
  found_at DateTime64(3, 'UTC')
)
ENGINE = $ENGINE(ReplacingMergeTree, found_at)
PARTITION BY toYYYYMM(window_start)
ORDER BY (cluster, window_start, policy, node, slot, what)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- What people do to money beside closing: rows are added and never changed. details is JSON.
CREATE TABLE IF NOT EXISTS audit $ON_CLUSTER (
  at DateTime64(3, 'UTC'),
  who String,
  what LowCardinality(String),
  why String,
  subject String,
  details String CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYear(at)
ORDER BY (at, what, subject)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- Each closed period with the one closing that counts.
CREATE VIEW IF NOT EXISTS closed_periods $ON_CLUSTER AS
SELECT billing_period, argMin(close_id, (recorded_at, toString(close_id))) AS close_id
FROM closings
WHERE kind = 'close'
GROUP BY billing_period;

-- All that people did to money: a closing's own row is the record of it, so that no crash parts the two.
CREATE VIEW IF NOT EXISTS audit_trail $ON_CLUSTER AS
SELECT at, who, what, why, subject, details FROM audit
UNION ALL
SELECT closed_at AS at, closed_by AS who,
  toString(multiIf(kind = 'close' AND (billing_period, close_id) NOT IN (SELECT billing_period, close_id FROM closed_periods),
    'close that came second', kind)) AS what,
  why, formatDateTime(billing_period, '%Y-%m') AS subject, document AS details
FROM closings;

-- The runs of charges and corrections that count: of an open billing period the latest of each window, of a closed one those that
-- its closing froze, whatever was published later.
CREATE VIEW IF NOT EXISTS charge_runs $ON_CLUSTER AS
SELECT toString(kind) AS kind, toString(cluster) AS cluster, window_start, billing_period,
  argMax(run_id, (generation, published_at, toString(run_id))) AS run_id
FROM runs
WHERE kind IN ('charge', 'correction') AND billing_period NOT IN (SELECT billing_period FROM closed_periods)
GROUP BY kind, cluster, window_start, billing_period
UNION ALL
SELECT toString(kind) AS kind, toString(cluster) AS cluster, window_start, billing_period, run_id
FROM closed_runs
WHERE kind != 'usage' AND close_id IN (SELECT close_id FROM closed_periods);

-- What readers see. Lines that waited to be spread over days or the period are replaced by what the closing made of them.
CREATE OR REPLACE VIEW charges_published $ON_CLUSTER AS
SELECT * FROM charges
WHERE run_id IN (SELECT run_id FROM charge_runs)
  AND NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM closed_periods));
