-- Tokens, by which people and programs ask for reports: a row for each that was made (what = 'created') and one for each that was
-- taken back ('revoked'), which repeats whose it was; rows are added and never changed. hash is the SHA-256 of the token's text, id the
-- hash's first digits. teams is empty for roles that see all; without expires_at a token never ends.
CREATE TABLE IF NOT EXISTS access_tokens $ON_CLUSTER (
  id String,
  what LowCardinality(String),
  at DateTime64(3, 'UTC'),
  who String,
  why String,
  name String,
  role LowCardinality(String),
  teams Array(String),
  hash String,
  expires_at Nullable(DateTime64(3, 'UTC'))
)
ENGINE = $ENGINE(MergeTree)
ORDER BY (id, what, at)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- What people did to tokens stands beside what they did to money. A token's own row is the record of it, as a closing's is.
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
FROM access_tokens;
