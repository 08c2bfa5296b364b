import { shortFloat } from "../exporter/numbers.ts";

/** A family of a page: its name, its type, and for each series the text after the name, and the value. */
export type Family = readonly [
  name: string,
  type: "gauge" | "counter" | "histogram",
  series: readonly (readonly [labels: string, value: number])[],
];

/** Returns a page in the form of Python's client: counters have the suffix `_total`, and beside it `_created` with their start. */
export function familiesPage(families: readonly Family[], createdMillis: number): Buffer {
  return Buffer.from(families.map((family) => familyText(family, createdMillis)).join(""));
}

function familyText([name, type, series]: Family, createdMillis: number): string {
  if (type !== "counter") return block(name, type, series);
  const created = series.map(([labels]) => [labels, createdMillis / 1000] as const);
  return block(`${name}_total`, type, series) + block(`${name}_created`, "gauge", created);
}

function block(name: string, type: string, series: Family[2]): string {
  const lines = series.map(([labels, value]) => `${name}${labels} ${pythonFloat(value)}\n`);
  return `# HELP ${name} Demo.\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

/**
 * Returns a float in the form of Python's client (prometheus_client/utils.py, floatToGoString): as in Go, but small whole numbers have `.0`.
 */
function pythonFloat(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e6 ? value.toFixed(1) : shortFloat(value);
}
