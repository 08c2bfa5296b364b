import type { Money, Variable } from "./model.ts";
import type { DashboardOptions } from "./options.ts";

/** The views of charges by the hour. The second has workloads. */
export const CHARGES = "charges_summed";
export const WORKLOAD_CHARGES = "workload_charges_summed";

/** The condition for rows of GPU-time, without costs beside GPUs. */
export const OF_GPUS = "state NOT IN ('non-gpu', 'unused commitment', 'markup', 'true-up')";

/** Returns the unit of amounts in the ledger's currency. */
export function money({ currency }: DashboardOptions): Money {
  return `suffix:${currency}`;
}

/** Returns the chosen value of a variable with one value, as an SQL string. */
export function chosen(name: string): string {
  return `\${${name}:singlequote}`;
}

/** Returns the condition for the chosen values of a variable with several values; none if all are chosen. */
export function among(column: string, variable: string = column): string {
  return `$__conditionalAll(${column} IN (\${${variable}:singlequote}), $${variable})`;
}

/** The condition for hours that began within the dashboard's time. */
export const IN_TIME = "$__timeFilter(from_at)";

/** The point of a series of charges: at least one hour, with the length of the dashboard's steps. */
const STEP_SECONDS = "greatest($__interval_s, 3600)";
export const STEP = stepOf("from_at");
/** Returns the point of a series of hours with another time column. */
export function stepOf(column: string): string {
  return `toStartOfInterval(${column}, toIntervalSecond(${STEP_SECONDS}), 'UTC')`;
}

/** The hours of a point `time` within the dashboard's time, including the current hour. */
const HOURS_OF_STEP = `(toUnixTimestamp(least(time + toIntervalSecond(${STEP_SECONDS}), toStartOfHour($__toTime, 'UTC') + toIntervalHour(1)))
  - toUnixTimestamp(greatest(time, toStartOfHour($__fromTime + toIntervalSecond(3599), 'UTC')))) / 3600`;

/** Returns the hourly value of a point's sum; `time` is its column. */
export function byHour(sum: string): string {
  return `${sum} / (${HOURS_OF_STEP})`;
}

/** Returns the SQL of cost per hour: a series for each of the `most` values of a column with the highest cost, and one for all others. */
export function costByDearest(column: string, where: string, most: number): string {
  return `SELECT point.1 AS time, if(place <= ${most}, key, 'others') AS name, ${byHour("sum(point.2)")} AS Value
FROM (
  SELECT key, groupArray((at, cost)) AS points, row_number() OVER (ORDER BY sum(cost) DESC, key) AS place
  FROM (
    SELECT ${STEP} AS at, ${column} AS key, toFloat64(sum(effective_cost)) AS cost
    FROM ${CHARGES} WHERE ${where} AND effective_cost IS NOT NULL GROUP BY at, key)
  GROUP BY key)
ARRAY JOIN points AS point GROUP BY time, name ORDER BY time, name`;
}

/** The condition for waste: neither activity nor costs beside GPUs. */
export const FOR_NOTHING = `state != 'active' AND ${OF_GPUS}`;

/** Returns the variable of the kept policies, of which one is chosen. */
export function policyVariable({ policy }: DashboardOptions): Variable {
  return {
    name: "policy",
    label: "policy",
    query: { source: "clickhouse", sql: `SELECT DISTINCT policy FROM ${CHARGES} WHERE ${IN_TIME} ORDER BY policy` },
    isMulti: false,
    ...(policy === undefined ? {} : { first: policy }),
  };
}

/** The clusters that were metered. */
export const CLUSTERS: Variable = {
  name: "cluster",
  label: "cluster",
  query: {
    source: "clickhouse",
    sql: "SELECT DISTINCT cluster FROM runs WHERE $__timeFilter(window_start) AND cluster != '' ORDER BY cluster",
  },
  isMulti: true,
};

/** Returns a variable with several values: a column of the charges that match the choices before it. */
export function chargesVariable(name: "team" | "namespace", before: readonly string[]): Variable {
  const where = [IN_TIME, `policy = ${chosen("policy")}`, ...before, `${name} != ''`].join(" AND ");
  return {
    name,
    label: name,
    query: { source: "clickhouse", sql: `SELECT DISTINCT ${name} FROM ${CHARGES} WHERE ${where} ORDER BY ${name}` },
    isMulti: true,
  };
}
