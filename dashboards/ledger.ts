import type { Money, Variable } from "./model.ts";
import type { DashboardOptions } from "./options.ts";

/** Charges by the hour; the second with their workloads. */
export const CHARGES = "charges_summed";
export const WORKLOAD_CHARGES = "workload_charges_summed";

/** Rows of GPUs' time, without costs that no GPU has. */
export const OF_GPUS = "state NOT IN ('non-gpu', 'unused commitment', 'markup', 'true-up')";

/** Amounts in the ledger's currency. */
export function money({ currency }: DashboardOptions): Money {
  return `suffix:${currency}`;
}

/** What is chosen of a variable of one value, as a string of SQL. */
export function chosen(name: string): string {
  return `\${${name}:singlequote}`;
}

/** Rows with one of the values that are chosen of a variable of several; no condition where all are. */
export function among(column: string, variable: string = column): string {
  return `$__conditionalAll(${column} IN (\${${variable}:singlequote}), $${variable})`;
}

/** Hours that began within the dashboard's time. */
export const IN_TIME = "$__timeFilter(from_at)";

/** A point of a series of charges: an hour or more of them, as long as the dashboard's steps are. */
const STEP_SECONDS = "greatest($__interval_s, 3600)";
export const STEP = `toStartOfInterval(from_at, toIntervalSecond(${STEP_SECONDS}), 'UTC')`;
/** Hours of a point `time` that are within the dashboard's time, the one that runs with them. */
const HOURS_OF_STEP = `(toUnixTimestamp(least(time + toIntervalSecond(${STEP_SECONDS}), toStartOfHour($__toTime, 'UTC') + toIntervalHour(1)))
  - toUnixTimestamp(greatest(time, toStartOfHour($__fromTime + toIntervalSecond(3599), 'UTC')))) / 3600`;

/** What sums of a point come to by the hour; `time` is its column. */
export function byHour(sum: string): string {
  return `${sum} / (${HOURS_OF_STEP})`;
}

/** Cost per hour of the dearest values of a column, and of all others together, of some charges: a series of each. */
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

/** Cost that bought nothing: neither activity nor what stands beside GPUs. */
export const FOR_NOTHING = `state != 'active' AND ${OF_GPUS}`;

/** The policies that are kept, of which one is looked at. */
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

/** A column of the charges of what is chosen before it, of several values. */
export function chargesVariable(name: "team" | "namespace", before: readonly string[]): Variable {
  const where = [IN_TIME, `policy = ${chosen("policy")}`, ...before, `${name} != ''`].join(" AND ");
  return {
    name,
    label: name,
    query: { source: "clickhouse", sql: `SELECT DISTINCT ${name} FROM ${CHARGES} WHERE ${where} ORDER BY ${name}` },
    isMulti: true,
  };
}
