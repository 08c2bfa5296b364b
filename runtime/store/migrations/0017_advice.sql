-- Recommendations. A run makes all cards of a window of whole days; its row in advice_runs is inserted after its cards, so that half a run is
-- never visible. basis is a hash of the rules and of the usage that the run has read.
CREATE TABLE IF NOT EXISTS advice_runs $ON_CLUSTER (
  run_id UUID,
  from_at DateTime64(3, 'UTC'),
  until_at DateTime64(3, 'UTC'),
  made_at DateTime64(3, 'UTC'),
  basis String,
  seconds Float64,
  cards UInt32,
  workloads UInt32,
  refusals String
)
ENGINE = $ENGINE(MergeTree)
ORDER BY (until_at, made_at, run_id)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- The card is JSON. Its id is the same for the same subject in every window; since_at is the end of the first window of an unbroken row of
-- windows with this card.
CREATE TABLE IF NOT EXISTS advice_cards $ON_CLUSTER (
  run_id UUID,
  until_at DateTime64(3, 'UTC'),
  id String,
  kind LowCardinality(String),
  team LowCardinality(String),
  since_at DateTime64(3, 'UTC'),
  owner_saving Decimal(38, 9),
  freed_cost Decimal(38, 9),
  organization_saving Decimal(38, 9),
  organization_saving_if_freed_leave Decimal(38, 9),
  card String
)
ENGINE = $ENGINE(MergeTree)
ORDER BY (until_at, run_id, team, id)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- What people decided about a card: taken, dismissed until a time, or reopened. Rows are added and never changed; the last one counts.
CREATE TABLE IF NOT EXISTS advice_marks $ON_CLUSTER (
  id String,
  what LowCardinality(String),
  at DateTime64(3, 'UTC'),
  until_at Nullable(DateTime64(3, 'UTC')),
  who String,
  why String
)
ENGINE = $ENGINE(MergeTree)
ORDER BY (id, at, what)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- Of each window the latest run counts.
CREATE VIEW IF NOT EXISTS advice_cards_published $ON_CLUSTER AS
SELECT * FROM advice_cards
WHERE run_id IN (SELECT argMax(run_id, (made_at, toString(run_id))) FROM advice_runs GROUP BY until_at, from_at);

-- Decisions about cards stand beside what people did to money and tokens.
CREATE OR REPLACE VIEW audit_trail $ON_CLUSTER AS
SELECT at, who, what, why, subject, details FROM audit
UNION ALL
SELECT closed_at AS at, closed_by AS who,
  toString(multiIf(kind = 'close' AND (billing_period, close_id) NOT IN (SELECT billing_period, close_id FROM closed_periods),
    'close that came second', kind)) AS what,
  why, formatDateTime(billing_period, '%Y-%m') AS subject, document AS details
FROM closings
UNION ALL
SELECT at, who, concat('token ', what) AS what, why, concat(name, ' (', id, ')') AS subject,
  toJSONString(CAST((toString(role), teams, expires_at),
    'Tuple(role String, teams Array(String), expires_at Nullable(DateTime64(3, \'UTC\')))')) AS details
FROM access_tokens
UNION ALL
SELECT at, who, 'delivery retried' AS what, why,
  concat(delivery, ' to ', recipient, ', ', formatDateTime(from_at, '%Y-%m-%d', 'UTC'), '/', formatDateTime(until_at, '%Y-%m-%d', 'UTC')) AS subject,
  details
FROM deliveries
WHERE deliveries.what = 'retried'
UNION ALL
SELECT at, who, concat('advice ', what) AS what, why, id AS subject,
  toJSONString(CAST(tuple(until_at), 'Tuple(until Nullable(DateTime64(3, \'UTC\')))')) AS details
FROM advice_marks;
