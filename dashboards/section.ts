import type { Level, Panel, Section, View } from "./model.ts";

/** The width, of 24 columns, and the height of most panels of a kind. */
const SIZES: Readonly<Record<View["kind"], Pick<Panel, "width" | "height">>> = {
  stat: { width: 4, height: 5 },
  series: { width: 12, height: 8 },
  table: { width: 12, height: 9 },
  timeline: { width: 12, height: 8 },
  bars: { width: 8, height: 9 },
  heatmap: { width: 12, height: 9 },
};

/**
 * A panel as the sets write it. Without a view it is one figure, without a unit a number. A panel of ClickHouse needs level D and others level A,
 * and has the size of its kind, unless it has its own.
 */
export type PanelDraft = Omit<Panel, "view" | "unit" | "needs" | "width" | "height"> &
  Partial<Pick<Panel, "view" | "unit" | "needs" | "width" | "height">>;

/** Returns a section of a dashboard with complete panels. */
export function section(title: string, drafts: readonly PanelDraft[]): Section {
  return { title, panels: drafts.map(panelOf) };
}

function panelOf(draft: PanelDraft): Panel {
  const { view = { kind: "stat" }, unit = "short", queries } = draft;
  const needs: Level = queries[0]!.source === "clickhouse" ? "D" : "A";
  return { needs, ...SIZES[view.kind], ...draft, view, unit };
}
