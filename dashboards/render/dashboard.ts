import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  RowBuilder,
  TextBoxVariableBuilder,
  VariableHide,
  type Dashboard as GrafanaDashboard,
} from "@grafana/grafana-foundation-sdk/dashboard";
import type { Dashboard } from "../model.ts";
import { panelOf } from "./panel.ts";
import { SOURCES } from "./query.ts";
import { variableOf } from "./variable.ts";

/** The tag of all dashboards of this project. */
const TAG = "gpu-ledger";

/** Returns a dashboard for Grafana's import. `server` is the address of gpu-ledger's pages for links. */
export function dashboardOf(dashboard: Dashboard, server: string): GrafanaDashboard {
  const { uid, title, description, variables, annotations, sections, from, refresh } = dashboard;
  const builder = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .readonly()
    .timezone("browser")
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from, to: "now" })
    .refresh(refresh)
    .link(
      new DashboardLinkBuilder("GPU dashboards")
        .type(DashboardLinkType.Dashboards)
        .tags([TAG])
        .asDropdown(true)
        .includeVars(true)
        .keepTime(true),
    )
    .link(new DashboardLinkBuilder("gpu-ledger").type(DashboardLinkType.Link).url("${server}/").targetBlank(true))
    .withVariable(new DatasourceVariableBuilder("prometheus").label("Prometheus").type("prometheus"));
  // Dashboards without queries to ClickHouse have the variable too, and pass it to others in links.
  builder.withVariable(
    new DatasourceVariableBuilder("clickhouse")
      .label("ClickHouse")
      .type(SOURCES.clickhouse.type)
      .hide(hasClickHouse(dashboard) ? VariableHide.DontHide : VariableHide.HideVariable),
  );
  for (const variable of variables) builder.withVariable(variableOf(variable));
  builder.withVariable(new TextBoxVariableBuilder("server").label("gpu-ledger").defaultValue(server));
  for (const { name, expr, text, color } of annotations) {
    builder.annotation(
      new AnnotationQueryBuilder()
        .name(name)
        .datasource(SOURCES.prometheus)
        .enable(true)
        .iconColor(color)
        .expr(expr)
        .titleFormat(name)
        .textFormat(text),
    );
  }
  let id = 0;
  for (const section of sections) {
    builder.withRow(new RowBuilder(section.title).id((id += 1)));
    for (const panel of section.panels) builder.withPanel(panelOf(panel, (id += 1)));
  }
  return builder.build();
}

function hasClickHouse({ variables, sections }: Dashboard): boolean {
  const queries = [
    ...variables.map(({ query }) => query),
    ...sections.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries)),
  ];
  return queries.some(({ source }) => source === "clickhouse");
}
