import type { ClickHouseQuery, PrometheusQuery } from "./model.ts";

/** Returns a query over the dashboard's time. */
export function range(expr: string, legend: string): PrometheusQuery {
  return { source: "prometheus", expr, legend, as: "range" };
}

/** Returns a query at the end of the dashboard's time. */
export function instant(expr: string, legend = ""): PrometheusQuery {
  return { source: "prometheus", expr, legend, as: "instant" };
}

/** Returns a query for the buckets of a histogram over the dashboard's time, by their upper bound `le`. */
export function buckets(expr: string): PrometheusQuery {
  return { source: "prometheus", expr, legend: "{{le}}", as: "buckets" };
}

/** Returns a query at the end of the time, as rows with labels as columns. */
export function rows(expr: string): PrometheusQuery {
  return { source: "prometheus", expr, as: "table" };
}

/** Returns a query to ClickHouse over time: columns `time`, the name of the series, and `Value`. */
export function sqlRange(sql: string): ClickHouseQuery {
  return { source: "clickhouse", sql, as: "range" };
}

/** Returns a query to ClickHouse whose answer is a table or a single figure. */
export function sqlRows(sql: string): ClickHouseQuery {
  return { source: "clickhouse", sql, as: "table" };
}
