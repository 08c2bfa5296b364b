-- What of each run that counts its charges are read from: a part that has its sums, or the run itself where nobody has made any.
CREATE OR REPLACE VIEW charge_parts $ON_CLUSTER AS
SELECT if(parts.part_id = toUUID('00000000-0000-0000-0000-000000000000'), charge_runs.run_id, parts.part_id) AS part
FROM charge_runs
LEFT JOIN (SELECT run_id, min(part_id) AS part_id FROM charge_sum_parts GROUP BY run_id) AS parts ON charge_runs.run_id = parts.run_id;

-- Charges by the hour, which from_at is, for dashboards of weeks: sums, and the lines of runs that have none, so that figures are the
-- same whatever was summed. What counts is looked up once for both: no run counts twice, or not at all, while its sums are made.
CREATE OR REPLACE VIEW charges_summed $ON_CLUSTER AS
SELECT * EXCEPT (part)
FROM (
  SELECT part_id AS part, * EXCEPT (run_id, part_id, dearest) FROM charge_sums
  UNION ALL
  SELECT run_id AS part, policy, billing_period, corrects, cluster, toDateTime64(toStartOfHour(from_at, 'UTC'), 3, 'UTC') AS from_at,
    gpu_model, instance_type, region, zone, pool, capacity_type, state, because, payer, team, cost_center, project, environment,
    holder != '' AS is_held, namespace, workload_kind, workload_type, queue, priority_class, attribution, price, priced_since, team_rule,
    toUInt64(1) AS lines, gpu_hours, list_cost, contracted_cost, effective_cost, power_cost, energy_mj, carbon_grams
  FROM charges
)
WHERE part IN (SELECT part FROM charge_parts)
  AND NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM closed_periods));

-- The same with the workload, of which there are many more rows.
CREATE OR REPLACE VIEW workload_charges_summed $ON_CLUSTER AS
SELECT * EXCEPT (part)
FROM (
  SELECT part_id AS part, * EXCEPT (run_id, part_id, dearest) FROM charge_workload_sums
  UNION ALL
  SELECT run_id AS part, policy, billing_period, corrects, cluster, toDateTime64(toStartOfHour(from_at, 'UTC'), 3, 'UTC') AS from_at,
    gpu_model, instance_type, region, zone, pool, capacity_type, state, because, payer, team, cost_center, project, environment,
    holder != '' AS is_held, namespace, workload_kind, workload, workload_type, queue, priority_class, attribution, price, priced_since,
    team_rule, toUInt64(1) AS lines, gpu_hours, list_cost, contracted_cost, effective_cost, power_cost, energy_mj, carbon_grams
  FROM charges
)
WHERE part IN (SELECT part FROM charge_parts)
  AND NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM closed_periods));
