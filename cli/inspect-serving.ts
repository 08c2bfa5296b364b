import type { ServingInspection } from "../collectors/exporters/serving/inspect.ts";
import { counted } from "../domain/counted.ts";
import { SERVING_METRIC_BY_NAME } from "../domain/serving/metric.ts";
import { renderTable } from "./table.ts";

const MOST_ROWS = 20;
const MOST_SHOWN_VALUES = 8;
const MOST_LINES = 50;

/** Returns the rows of an engine's or a gateway's page as text: their identities, their values, unused lines by reason, and drops. */
export function renderServing({ exporter, samples, rows, used, unused, drops }: ServingInspection): string {
  const sections = [
    `${exporter}: ${counted(samples, "sample")}, ${counted(rows.length, "row")}, ${counted(used.length, "line")} used, ${unused.length} not used, ${drops.length} dropped`,
  ];
  if (rows.length > 0) {
    const identities = rows
      .slice(0, MOST_ROWS)
      .map(({ series: { exporter: program, kind, model, part, tenant }, values }, index) => [
        String(index),
        program,
        kind,
        model === "" ? "-" : model,
        part ?? "-",
        tenant ?? "-",
        String(Object.keys(values).length),
      ]);
    sections.push(
      renderTable(["row", "program", "kind", "model", "part", "tenant", "values"], identities) +
        more(rows.length - MOST_ROWS, "rows"),
    );
    const shown = rows.slice(0, MOST_SHOWN_VALUES);
    const columns = [...SERVING_METRIC_BY_NAME.keys()].filter((column) => shown.some(({ values }) => column in values));
    sections.push(
      renderTable(
        ["value", ...shown.map((_, index) => `row ${index}`)],
        columns.map((column) => [column, ...shown.map(({ values }) => textOf(values[column]))]),
      ),
    );
  }
  const reasons = grouped(unused);
  if (reasons.length > 0)
    sections.push(
      `not used:\n${renderTable(["lines", "series", "why"], reasons.slice(0, MOST_LINES))}${more(reasons.length - MOST_LINES, "kinds")}`,
    );
  if (drops.length > 0) {
    const lines = drops
      .slice(0, MOST_LINES)
      .map(({ line, reason, series, why }) => [String(line), reason, series, why]);
    sections.push(
      `dropped:\n${renderTable(["line", "reason", "series", "why"], lines)}${more(drops.length - MOST_LINES, "lines")}`,
    );
  }
  return sections.join("\n\n");
}

/** Returns the number of lines of each series that share a reason. */
function grouped(unused: ServingInspection["unused"]): readonly (readonly string[])[] {
  const counts = new Map<string, { readonly series: string; readonly why: string; lines: number }>();
  for (const { series, why } of unused) {
    const key = `${series} ${why}`;
    const group = counts.get(key) ?? { series, why, lines: 0 };
    group.lines += 1;
    counts.set(key, group);
  }
  return [...counts.values()].map(({ series, why, lines }) => [String(lines), series, why]);
}

function more(count: number, noun: string): string {
  return count > 0 ? `\n… and ${count} more ${noun}; see --format json` : "";
}

function textOf(value: number | undefined): string {
  return value === undefined ? "-" : String(Math.round(value));
}
