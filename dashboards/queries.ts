import type { ClickHouseQuery, PrometheusQuery } from "./model.ts";

/** An expression over the dashboard's time. */
export function range(expr: string, legend: string): PrometheusQuery {
  return { source: "prometheus", expr, legend, as: "range" };
}

/** An expression as of the end of the dashboard's time. */
export function instant(expr: string, legend = ""): PrometheusQuery {
  return { source: "prometheus", expr, legend, as: "instant" };
}

/** Buckets of a histogram over the dashboard's time, by their upper bound `le`. */
export function buckets(expr: string): PrometheusQuery {
  return { source: "prometheus", expr, legend: "{{le}}", as: "buckets" };
}

/** An expression as of the end, as rows whose labels are columns. */
export function rows(expr: string): PrometheusQuery {
  return { source: "prometheus", expr, as: "table" };
}

/** A question to ClickHouse over time: columns `time`, what is drawn by its name, and `Value`. */
export function sqlRange(sql: string): ClickHouseQuery {
  return { source: "clickhouse", sql, as: "range" };
}

/** One whose answer is a table, or a single figure. */
export function sqlRows(sql: string): ClickHouseQuery {
  return { source: "clickhouse", sql, as: "table" };
}
