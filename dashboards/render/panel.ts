import * as bars from "@grafana/grafana-foundation-sdk/bargauge";
import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import {
  BarGaugeDisplayMode,
  BarGaugeNamePlacement,
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TableSortByFieldStateBuilder,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTooltipOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import {
  DashboardLinkBuilder,
  DashboardLinkType,
  MappingType,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type DashboardLink,
  type DynamicConfigValue,
  type Panel as GrafanaPanel,
  type Threshold,
  type ThresholdsConfig,
  type ValueMapping,
  type ValueMappingResult,
} from "@grafana/grafana-foundation-sdk/dashboard";
import * as heatmap from "@grafana/grafana-foundation-sdk/heatmap";
import * as timeline from "@grafana/grafana-foundation-sdk/statetimeline";
import * as stat from "@grafana/grafana-foundation-sdk/stat";
import * as table from "@grafana/grafana-foundation-sdk/table";
import * as series from "@grafana/grafana-foundation-sdk/timeseries";
import { LEVELS, type Column, type Link, type Meanings, type Panel, type Thresholds, type View } from "../model.ts";
import { SOURCES, targetOf } from "./query.ts";

/** The builders of every kind of panel. */
type AnyPanel =
  | bars.PanelBuilder
  | heatmap.PanelBuilder
  | timeline.PanelBuilder
  | stat.PanelBuilder
  | table.PanelBuilder
  | series.PanelBuilder;

/** Returns a panel in Grafana's form. */
export function panelOf(panel: Panel, id: number): Builder<GrafanaPanel> {
  const { title, description, needs, unit, decimals, thresholds, queries, empty, width, height, links = [] } = panel;
  const builder: AnyPanel = viewOf(panel.view);
  builder
    .id(id)
    .title(title)
    .description(`${description}\n\nNeeds level ${needs}: ${LEVELS[needs]}.`)
    .datasource(SOURCES[queries[0]!.source])
    .targets(queries.map(targetOf))
    .unit(unit)
    .noValue(emptyText(empty, panel))
    .span(width)
    .height(height)
    .dataLinks(links.map((link) => linkOf(link)));
  if (decimals !== undefined) builder.decimals(decimals);
  if (thresholds !== undefined) {
    builder.thresholds(thresholdsOf(thresholds));
    // Series keep their colors: the thresholds are lines.
    if (builder instanceof series.PanelBuilder)
      builder.thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));
  }
  return builder;
}

/** Returns the text of a panel without data: its meaning, and the needed data. */
function emptyText(empty: string, { needs, unit, queries }: Panel): string {
  const isMoney = unit.startsWith("suffix:") && queries.every(({ source }) => source === "prometheus");
  return [
    empty,
    needs === "A" ? "" : `It needs level ${needs}: ${LEVELS[needs]}.`,
    isMoney ? "It needs a price book: amounts by public list prices are not on /metrics." : "",
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

function viewOf(view: View): AnyPanel {
  switch (view.kind) {
    case "stat":
      return new stat.PanelBuilder()
        .reduceOptions(lastValue())
        .graphMode(BigValueGraphMode.None)
        .colorMode(BigValueColorMode.Value);
    case "bars":
      return new bars.PanelBuilder()
        .reduceOptions(lastValue())
        .orientation(VizOrientation.Horizontal)
        .displayMode(BarGaugeDisplayMode.Basic)
        .namePlacement(BarGaugeNamePlacement.Left)
        .showUnfilled(true);
    case "series":
      return seriesOf(view);
    case "timeline":
      return new timeline.PanelBuilder()
        .mappings([meaningsOf(view.meanings)])
        .mergeValues(true)
        .showValue(VisibilityMode.Auto)
        .rowHeight(0.8)
        .legend(new VizLegendOptionsBuilder().showLegend(false));
    case "heatmap":
      return new heatmap.PanelBuilder()
        .calculate(false)
        .yAxis(new heatmap.YAxisConfigBuilder().unit(view.of))
        .cellGap(1);
    case "table":
      return tableOf(view);
  }
}

function lastValue(): ReduceDataOptionsBuilder {
  return new ReduceDataOptionsBuilder().calcs(["lastNotNull"]);
}

function seriesOf({ isStacked = false, isBars = false, max }: Extract<View, { kind: "series" }>): series.PanelBuilder {
  const builder = new series.PanelBuilder()
    .min(0)
    .drawStyle(isBars ? GraphDrawStyle.Bars : GraphDrawStyle.Line)
    .lineWidth(1)
    .fillOpacity(isBars ? 80 : isStacked ? 40 : 5)
    .showPoints(VisibilityMode.Never)
    .spanNulls(false)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        .calcs(["mean", "lastNotNull"]),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  if (max !== undefined) builder.max(max);
  if (isStacked) builder.stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group("A"));
  return builder;
}

/** Returns a table of answers side by side, with only the columns of the definition, in their order. */
function tableOf({ columns, sortedBy }: Extract<View, { kind: "table" }>): table.PanelBuilder {
  const builder = new table.PanelBuilder()
    .withTransformation({ id: "merge", options: {} })
    .withTransformation({
      id: "filterFieldsByName",
      options: { include: { names: columns.map(({ field }) => field) } },
    })
    .withTransformation({
      id: "organize",
      options: {
        indexByName: Object.fromEntries(columns.map(({ field }, index) => [field, index])),
        renameByName: Object.fromEntries(columns.map(({ field, title }) => [field, title])),
      },
    })
    .filterable(true);
  for (const column of columns) builder.overrideByName(column.title, propertiesOf(column));
  if (sortedBy !== undefined) builder.sortBy([new TableSortByFieldStateBuilder().displayName(sortedBy).desc(true)]);
  return builder;
}

function propertiesOf({ unit, decimals, thresholds, link }: Column): DynamicConfigValue[] {
  return [
    ...(unit === undefined ? [] : [{ id: "unit", value: unit }]),
    ...(decimals === undefined ? [] : [{ id: "decimals", value: decimals }]),
    ...(link === undefined ? [] : [{ id: "links", value: [linkOf(link).build()] }]),
    ...(thresholds === undefined
      ? []
      : [
          { id: "thresholds", value: thresholdsOf(thresholds).build() },
          { id: "custom.cellOptions", value: { type: "color-text" } },
        ]),
  ];
}

function thresholdsOf([base, ...steps]: Thresholds): Builder<ThresholdsConfig> {
  const first: Threshold = { value: null, color: base.color };
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([first, ...steps.map(({ from: value, color }) => ({ value, color }))]);
}

function meaningsOf(meanings: Meanings): ValueMapping {
  const options: Record<string, ValueMappingResult> = {};
  for (const [index, [value, { text, color }]] of Object.entries(meanings).entries())
    options[value] = { text, color, index };
  return { type: MappingType.ValueToText, options };
}

function linkOf({ title, url }: Link): Builder<DashboardLink> {
  return new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(url);
}
