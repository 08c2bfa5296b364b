import type { Device } from "../../domain/device.ts";
import { METRIC_BY_NAME } from "../../domain/metric.ts";
import type { ScrapeFailure } from "../../domain/scrape.ts";
import { atOnce } from "../../runtime/steps.ts";
import { planSteps, type PagePlan } from "./fold/plan.ts";
import { failureOf } from "./http/page-error.ts";
import { inspectLines, valuesOfRow, type InspectedDrop } from "./inspect-lines.ts";
import { readInFull, type FullReading } from "./page/full.ts";
import { PAGE_LIMITS, type PageKind } from "./page/kind.ts";

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

/** The reason why a page cannot be read. */
export interface Uninspected {
  readonly reason: ScrapeFailure;
  readonly detail: string;
}

/** The pages of GPU exporters, without the messages of their hosts. */
const GPU_LINES: PageKind<undefined, PagePlan> = { programs: "GPU exporter", plan: planSteps };

/** Reads a page as the collector does and explains each dropped line. Returns the failure if it is not a page of a GPU exporter. */
export function inspectPage(page: Buffer, complete = true): Inspection | Uninspected {
  let full: FullReading<PagePlan>;
  try {
    full = atOnce(readInFull(page, complete, { kind: GPU_LINES, source: undefined, limits: PAGE_LIMITS }));
  } catch (error) {
    return failureOf(error);
  }
  const { values, samples, drops } = inspectLines(full);
  const { columns, devices, exporter } = full.plan.shape;
  return {
    exporter,
    samples,
    devices: devices.map((device, row) => {
      const all = Object.entries(valuesOfRow(columns, values, row));
      return {
        device,
        values: Object.fromEntries(all.filter(([column]) => METRIC_BY_NAME.has(column))),
        unknown: Object.fromEntries(all.filter(([column]) => !METRIC_BY_NAME.has(column))),
      };
    }),
    drops,
  };
}
