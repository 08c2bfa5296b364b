-- Whether a line has a price of the book or of a provider's export: estimated, provisional, invoiced. Empty in a ledger without exports.
ALTER TABLE charges $ON_CLUSTER ADD COLUMN IF NOT EXISTS invoice_status LowCardinality(String);
ALTER TABLE charge_workload_sums $ON_CLUSTER ADD COLUMN IF NOT EXISTS invoice_status LowCardinality(String);
ALTER TABLE charge_sums $ON_CLUSTER ADD COLUMN IF NOT EXISTS invoice_status LowCardinality(String);

-- The kept lines of providers' exports. They count from the row of their version in invoice_exports on. Amounts are decimals in the line's
-- currency, as texts, because providers write up to 38 digits after the point.
CREATE TABLE IF NOT EXISTS export_lines $ON_CLUSTER (
  version UUID,
  source LowCardinality(String),
  file LowCardinality(String),
  file_row UInt32 CODEC(ZSTD(1)),
  cloud LowCardinality(String),
  payer LowCardinality(String),
  account LowCardinality(String),
  billing_from DateTime64(3, 'UTC') CODEC(ZSTD(1)),
  billing_until DateTime64(3, 'UTC') CODEC(ZSTD(1)),
  from_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  until_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  kind LowCardinality(String),
  machine String CODEC(ZSTD(1)),
  region LowCardinality(String),
  zone LowCardinality(String),
  instance_type LowCardinality(String),
  capacity_type LowCardinality(String),
  commitment String CODEC(ZSTD(1)),
  reservation String CODEC(ZSTD(1)),
  machine_hours String CODEC(ZSTD(1)),
  currency LowCardinality(String),
  list_cost String CODEC(ZSTD(1)),
  contracted_cost String CODEC(ZSTD(1)),
  effective_cost String CODEC(ZSTD(1)),
  billed_cost String CODEC(ZSTD(1)),
  description LowCardinality(String),
  invoice LowCardinality(String)
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMM(billing_from)
ORDER BY (source, machine, from_at, version)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

-- A billing month of an export that was read. The last version counts, also if it has no lines.
CREATE TABLE IF NOT EXISTS invoice_exports $ON_CLUSTER (
  source LowCardinality(String),
  export String,
  billing_period Date,
  version UUID,
  content String,
  read_at DateTime64(3, 'UTC'),
  read_by String,
  rows UInt64,
  kept UInt64,
  dropped Map(LowCardinality(String), UInt64),
  from_at DateTime64(3, 'UTC'),
  until_at DateTime64(3, 'UTC'),
  document String CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
ORDER BY (source, export, billing_period, read_at)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

CREATE VIEW IF NOT EXISTS invoice_exports_valid $ON_CLUSTER AS
SELECT * FROM invoice_exports
WHERE (source, export, billing_period, version) IN (
  SELECT source, export, billing_period, argMax(version, (read_at, toString(version))) FROM invoice_exports
  GROUP BY source, export, billing_period
);

CREATE VIEW IF NOT EXISTS export_lines_valid $ON_CLUSTER AS
SELECT * FROM export_lines
WHERE (version, toDate(toStartOfMonth(billing_from))) IN (SELECT version, billing_period FROM invoice_exports_valid);

-- The cost of exports by the hour, in the currency of the export. booked is `node`, `platform` (a cost of no cluster), or `none`: it is not
-- charged. is_divided is true if the lines are longer than an hour. rate is the invoice's own; empty if the book's rates count.
CREATE TABLE IF NOT EXISTS invoiced_hours $ON_CLUSTER (
  run_id UUID,
  hour DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  cluster LowCardinality(String),
  node LowCardinality(String),
  uid String CODEC(ZSTD(1)),
  from_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  until_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  booked LowCardinality(String),
  kind LowCardinality(String),
  machine String CODEC(ZSTD(1)),
  source LowCardinality(String),
  account LowCardinality(String),
  billing_period Date CODEC(ZSTD(1)),
  region LowCardinality(String),
  zone LowCardinality(String),
  instance_type LowCardinality(String),
  capacity_type LowCardinality(String),
  commitment String CODEC(ZSTD(1)),
  currency LowCardinality(String),
  list_cost Decimal(38, 9) CODEC(ZSTD(1)),
  contracted_cost Decimal(38, 9) CODEC(ZSTD(1)),
  effective_cost Decimal(38, 9) CODEC(ZSTD(1)),
  rate LowCardinality(String),
  status LowCardinality(String),
  is_divided Bool,
  lines UInt32 CODEC(ZSTD(1))
)
ENGINE = $ENGINE(MergeTree)
PARTITION BY toYYYYMM(hour)
ORDER BY (cluster, hour, node, run_id)
SETTINGS non_replicated_deduplication_window = 0, fsync_after_insert = 1;

CREATE VIEW IF NOT EXISTS invoiced_hours_published $ON_CLUSTER AS
SELECT * FROM invoiced_hours
WHERE run_id IN (
  SELECT argMax(run_id, (generation, published_at, toString(run_id))) FROM runs
  WHERE kind = 'invoice'
  GROUP BY cluster, window_start
);
