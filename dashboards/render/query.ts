import type { Builder, Dataquery } from "@grafana/grafana-foundation-sdk/cog";
import { DataqueryBuilder, PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import { isOverTime, type ClickHouseQuery, type PrometheusQuery, type Query } from "../model.ts";

/** The data sources that people choose. Every query names one of them. */
export const SOURCES = {
  prometheus: { type: "prometheus", uid: "${prometheus}" },
  clickhouse: { type: "grafana-clickhouse-datasource", uid: "${clickhouse}" },
} as const;

/** The version of the ClickHouse plugin for these queries. */
export const CLICKHOUSE_PLUGIN = "4.20.0";

const FORMATS: Readonly<Record<PrometheusQuery["as"], PromQueryFormat>> = {
  range: PromQueryFormat.TimeSeries,
  buckets: PromQueryFormat.Heatmap,
  instant: PromQueryFormat.TimeSeries,
  table: PromQueryFormat.Table,
};

/** Returns a query of a panel in Grafana's form. */
export function targetOf(query: Query, index: number): Builder<Dataquery> {
  const refId = String.fromCodePoint("A".codePointAt(0)! + index);
  return query.source === "prometheus" ? ofPrometheus(query, refId) : ofClickHouse(query, refId);
}

function ofPrometheus({ expr, legend = "", as }: PrometheusQuery, refId: string): Builder<Dataquery> {
  const query = new DataqueryBuilder()
    .refId(refId)
    .datasource(SOURCES.prometheus)
    .expr(expr)
    .legendFormat(legend)
    .format(FORMATS[as]);
  return isOverTime({ as }) ? query.range() : query.instant();
}

/** Returns a query of the ClickHouse plugin, which the library does not support. */
function ofClickHouse({ sql, as }: ClickHouseQuery, refId: string): Builder<Dataquery> {
  const query = {
    refId,
    datasource: SOURCES.clickhouse,
    editorType: "sql",
    queryType: as === "range" ? "timeseries" : "table",
    format: as === "range" ? 0 : 1,
    pluginVersion: CLICKHOUSE_PLUGIN,
    rawSql: sql,
    _implementsDataqueryVariant() {},
    dataqueryName: () => SOURCES.clickhouse.type,
  };
  return { build: () => query as unknown as Dataquery };
}
