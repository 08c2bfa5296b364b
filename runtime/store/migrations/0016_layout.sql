-- How the GPU of a line is cut or shared: whole, mig, shared, partitions. Lines from before do not have it, and it is no difference to them.
ALTER TABLE charges $ON_CLUSTER ADD COLUMN IF NOT EXISTS layout LowCardinality(String);
ALTER TABLE charge_workload_sums $ON_CLUSTER ADD COLUMN IF NOT EXISTS layout LowCardinality(String);
ALTER TABLE charge_sums $ON_CLUSTER ADD COLUMN IF NOT EXISTS layout LowCardinality(String);

-- A view keeps the columns that there were when it was made.
CREATE OR REPLACE VIEW charges_published $ON_CLUSTER AS
SELECT * FROM charges
WHERE run_id IN (SELECT run_id FROM charge_runs)
  AND NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM closed_periods));

CREATE OR REPLACE VIEW charges_summed $ON_CLUSTER AS
SELECT * EXCEPT (part)
FROM (
  SELECT part_id AS part, * EXCEPT (run_id, part_id, dearest) FROM charge_sums
  UNION ALL
  SELECT run_id AS part, policy, billing_period, corrects, cluster, toDateTime64(toStartOfHour(from_at, 'UTC'), 3, 'UTC') AS from_at,
    gpu_model, instance_type, region, zone, pool, capacity_type, state, because, payer, team, cost_center, project, environment,
    holder != '' AS is_held, namespace, workload_kind, workload_type, queue, priority_class, attribution, price, priced_since, team_rule,
    toUInt64(1) AS lines, gpu_hours, list_cost, contracted_cost, effective_cost, power_cost, energy_mj, carbon_grams, layout
  FROM charges
)
WHERE part IN (SELECT part FROM charge_parts)
  AND NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM closed_periods));

CREATE OR REPLACE VIEW workload_charges_summed $ON_CLUSTER AS
SELECT * EXCEPT (part)
FROM (
  SELECT part_id AS part, * EXCEPT (run_id, part_id, dearest) FROM charge_workload_sums
  UNION ALL
  SELECT run_id AS part, policy, billing_period, corrects, cluster, toDateTime64(toStartOfHour(from_at, 'UTC'), 3, 'UTC') AS from_at,
    gpu_model, instance_type, region, zone, pool, capacity_type, state, because, payer, team, cost_center, project, environment,
    holder != '' AS is_held, namespace, workload_kind, workload, workload_type, queue, priority_class, attribution, price, priced_since,
    team_rule, toUInt64(1) AS lines, gpu_hours, list_cost, contracted_cost, effective_cost, power_cost, energy_mj, carbon_grams, layout
  FROM charges
)
WHERE part IN (SELECT part FROM charge_parts)
  AND NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM closed_periods));
