import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import {
  QueryVariableBuilder,
  VariableHide,
  VariableRefresh,
  VariableSort,
  type VariableModel,
} from "@grafana/grafana-foundation-sdk/dashboard";
import type { Variable } from "../model.ts";
import { SOURCES } from "./query.ts";

/** Returns a variable in Grafana's form. */
export function variableOf({ name, label, query, isMulti, isHidden = false, first }: Variable): Builder<VariableModel> {
  const builder = new QueryVariableBuilder(name)
    .label(label)
    .datasource(SOURCES[query.source])
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc)
    .multi(isMulti)
    .includeAll(isMulti)
    .hide(isHidden ? VariableHide.HideVariable : VariableHide.DontHide);
  // Series without the label count too: a Prometheus without cluster names has one cluster. Queries to ClickHouse leave such conditions
  // out. A hidden variable limits queries, so "all" means the values that were found.
  if (isMulti && !isHidden) builder.allValue(".*");
  if (isMulti) builder.current({ text: "All", value: "$__all" });
  else if (first !== undefined) builder.current({ text: first, value: first });
  if (query.source === "clickhouse")
    return builder.definition(query.sql).query({ editorType: "sql", rawSql: query.sql });
  const text = `label_values(${query.selector}, ${query.of})`;
  return builder
    .definition(text)
    .query({ qryType: 1, query: text, refId: "PrometheusVariableQueryEditor-VariableQuery" });
}
