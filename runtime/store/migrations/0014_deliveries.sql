-- Deliveries of reports, as they happened: rows are added and never changed. What is delivered once is a period of a delivery to a
-- recipient (delivery, recipient, from_at, until_at); scheduled rows have no period, as they say since when a schedule is known.
-- - scheduled: a server has seen this schedule (definition is its hash).
-- - waiting: it is due, and is not sent, for a reason; attempt is the last one before.
-- - started: an attempt is claimed, by claim, until lease_until; a second row of one claim makes the lease longer.
-- - delivered, failed, stopped: how the attempt ended. It may have ended without a row: then its lease ran out.
-- - given up: it is not tried any more.
-- - retried: somebody wants it tried again (who, why).
-- Claims of one attempt carry one insert_deduplication_token, and the store keeps the first of them: two servers at once never have
-- the same attempt. Every row that is inserted is a block that the window has to remember.
CREATE TABLE IF NOT EXISTS deliveries $ON_CLUSTER (
  delivery LowCardinality(String),
  recipient LowCardinality(String),
  from_at DateTime64(3, 'UTC'),
  until_at DateTime64(3, 'UTC'),
  due_at DateTime64(3, 'UTC'),
  what LowCardinality(String),
  definition String,
  attempt UInt32,
  claim UUID,
  at DateTime64(3, 'UTC'),
  lease_until DateTime64(3, 'UTC'),
  who String,
  why String,
  details String
)
ENGINE = $ENGINE(MergeTree)
ORDER BY (delivery, recipient, from_at, until_at, attempt, at, what)
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000,
  replicated_deduplication_window_seconds = 2592000, fsync_after_insert = 1;

-- Who wanted a delivery tried again stands beside what people did to money and to tokens.
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
WHERE deliveries.what = 'retried';
