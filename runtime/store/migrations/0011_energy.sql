-- Energy of the whole GPU over the segment, at the GPU, and for how much of it a counter or a power reading speaks. In rows from
-- before nothing was measured.
ALTER TABLE usage_hours $ON_CLUSTER
  ADD COLUMN IF NOT EXISTS energy_mj UInt64 CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS energy_covered_ms UInt32 CODEC(ZSTD(1));

-- What power costs, which each of the costs has in it: NULL where the price has no power. Energy at the GPU: NULL where nothing was
-- measured. Carbon: NULL as well where nothing says what a kWh emits. A correction can be negative.
ALTER TABLE charges $ON_CLUSTER
  ADD COLUMN IF NOT EXISTS power_cost Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS energy_mj Nullable(Decimal(38, 0)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS carbon_grams Nullable(Decimal(38, 9)) CODEC(ZSTD(1));

-- What readers see has the new columns too: a view keeps those that there were when it was made.
CREATE OR REPLACE VIEW usage_hours_published $ON_CLUSTER AS
SELECT * FROM usage_hours
WHERE run_id IN (
  SELECT argMax(run_id, (generation, published_at, toString(run_id))) FROM runs
  WHERE kind = 'usage'
  GROUP BY cluster, window_start
);
CREATE OR REPLACE VIEW charges_published $ON_CLUSTER AS
SELECT * FROM charges
WHERE run_id IN (SELECT run_id FROM charge_runs)
  AND NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM closed_periods));
