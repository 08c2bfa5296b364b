import type { Device } from "../../domain/device.ts";
import { METRIC_BY_NAME } from "../../domain/metric.ts";
import type { LineDrop, ScrapeFailure } from "../../domain/scrape.ts";
import { atOnce } from "../../runtime/steps.ts";
import { run } from "./fold/program.ts";
import { SENTINEL_TEXT } from "./fold/row.ts";
import { failureOf } from "./http/page-error.ts";
import { PAGE_LIMITS, readInFull, type FullReading } from "./page/reader.ts";

/** A dropped line, with the reason as a code and as a sentence. */
export interface InspectedDrop {
  readonly line: number;
  readonly series: string;
  readonly reason: LineDrop;
  readonly why: string;
}

/** A device of a page with its values in canonical units, and the values of metrics that no dialect has. */
export interface InspectedDevice {
  readonly device: Device;
  readonly values: Readonly<Record<string, number>>;
  readonly unknown: Readonly<Record<string, number>>;
}

/** The devices and drops that a collector reads from a page. */
export interface Inspection {
  readonly exporter: string;
  readonly samples: number;
  readonly devices: readonly InspectedDevice[];
  readonly drops: readonly InspectedDrop[];
}

const WHY: Readonly<Partial<Record<LineDrop, string>>> = {
  sentinel: "the exporter's marker for a missing value",
  "not-a-number": "not a finite number",
  "out-of-range": "outside the range of this metric",
  "unsupported-zero": "a 0 here means that the GPU does not measure the value",
};

/** Reads a page as the collector does and explains each dropped line. Returns the failure if it is not a page of an exporter. */
export function inspectPage(
  page: Buffer,
  complete = true,
): Inspection | { readonly reason: ScrapeFailure; readonly detail: string } {
  let full: FullReading;
  try {
    full = atOnce(readInFull(page, complete, PAGE_LIMITS));
  } catch (error) {
    return failureOf(error);
  }
  const { exposition, plan, texts, truncated } = full;
  const drops: InspectedDrop[] = [
    ...plan.drops.map(({ line, name, reason, why }) => ({ line, series: name, reason, why })),
    ...exposition.malformed.map(({ line, text, why }) => ({
      line,
      series: text,
      reason: "malformed-line" as const,
      why,
    })),
    ...texts.map(({ line, name, valueText }) => {
      const reason = SENTINEL_TEXT.test(valueText) ? ("sentinel" as const) : ("not-a-number" as const);
      return { line, series: name, reason, why: `${WHY[reason]}: ${valueText}` };
    }),
  ];
  if (truncated !== undefined) {
    const why = "the page may end within this line";
    drops.push({ line: truncated.line, series: truncated.name, reason: "unterminated-line", why });
  }
  const values = new Float64Array(plan.program.cellCount);
  const raw = Float64Array.from(exposition.samples, (sample) => sample.value!);
  run(plan.program, raw, values, (index, reason) => {
    const { line, name, valueText } = exposition.samples[index]!;
    drops.push({ line, series: name, reason, why: `${WHY[reason] ?? reason}: ${valueText}` });
  });
  const { columns, devices, exporter } = plan.shape;
  return {
    exporter,
    samples: exposition.samples.length + texts.length + (truncated === undefined ? 0 : 1),
    devices: devices.map((device, row) => ({
      device,
      values: pick(columns, values, row, (column) => METRIC_BY_NAME.has(column)),
      unknown: pick(columns, values, row, (column) => !METRIC_BY_NAME.has(column)),
    })),
    drops: drops.sort((a, b) => a.line - b.line),
  };
}

function pick(
  columns: readonly string[],
  values: Float64Array,
  row: number,
  wanted: (column: string) => boolean,
): Record<string, number> {
  const picked: Record<string, number> = {};
  columns.forEach((column, index) => {
    const value = values[row * columns.length + index]!;
    if (wanted(column) && !Number.isNaN(value)) picked[column] = value;
  });
  return picked;
}
