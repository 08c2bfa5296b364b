import { render } from "preact-render-to-string";
import { h } from "preact";
import { beforeAll, describe, expect, it } from "vitest";
import { MINUTE_MILLIS as MINUTE } from "../../../../domain/time.ts";
import { loadCharts } from "../../../../reports/parts/charts/chart.tsx";
import { MeasurementsChart } from "../../../../reports/parts/charts/measurements.tsx";
import type { MeasuredStep } from "../../../../reports/read/measurements.ts";

const NONE = { mean: null, least: null, most: null };

/** The chart of an hour with a sample at each of some minutes. */
function chartOf(minutes: readonly number[]): string {
  const steps = minutes.map((minute): MeasuredStep => {
    const activity = { mean: 0.5, least: 0.5, most: 0.5 };
    const none = { memory: NONE, temperature: NONE, power: NONE };
    return { at: minute * MINUTE, gpus: 1, holders: [], clockReasons: 0, activity, ...none };
  });
  const time = { from: 0, until: 60 * MINUTE, stepMillis: MINUTE };
  return render(h(MeasurementsChart, { steps, time, costs: [], currency: "USD", events: [], label: "an hour" }));
}

/** Dots are the only closed curves of the chart without events. */
const dotsOf = (chart: string): number => chart.match(/<path d="M[^"]*A[^"]*"/g)?.length ?? 0;

describe("the chart of measurements", () => {
  beforeAll(loadCharts);

  it("shows a sample between two gaps as a dot, and neighbors as a line", () => {
    const line = dotsOf(chartOf([10, 11, 12]));
    expect([line, dotsOf(chartOf([10, 20, 30])) > line]).toEqual([0, true]);
  });
});
