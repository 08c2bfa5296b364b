import type { EChartsCoreOption, init } from "echarts/core";
import type { VNode } from "preact";

/** Creates a chart, as soon as the library that draws charts is loaded. */
let createChart: typeof init | undefined;

/** Loads the library that draws charts. It has 590 modules, so a program without pages and documents does without them. */
export async function loadCharts(): Promise<void> {
  createChart ??= (await import("./echarts.ts")).init;
}

/**
 * The widths of a chart: one for screens and paper, and one for phones, on which texts would otherwise be too small. The page's style shows
 * one of them.
 */
const WIDTHS = { wide: 1_100, narrow: 360 } as const;
/** The assumed size of texts. The page's style sets their font. */
const TEXT_SIZE = 12;

/** Colors of axes and texts from the page's style. They follow light and dark mode. */
export const AXIS = {
  axisLine: { lineStyle: { color: "var(--rule)" } },
  axisTick: { show: false },
  axisLabel: { color: "var(--quiet)", fontSize: TEXT_SIZE },
  splitLine: { lineStyle: { color: "var(--rule)" } },
} as const;

/**
 * A chart that is drawn on the server, with a text that describes it. It contains no script and no style. It can be drawn only after
 * {@link loadCharts}.
 */
export function Chart({ option, label, height = 220 }: ChartProps): VNode {
  const drawn = (["wide", "narrow"] as const).map((size) => svgOf(size, option, label, height));
  return <figure class="chart" dangerouslySetInnerHTML={{ __html: drawn.join("") }} />;
}

function svgOf(size: keyof typeof WIDTHS, option: EChartsCoreOption, label: string, height: number): string {
  if (createChart === undefined) throw new Error("a chart is drawn before loadCharts() has ended");
  const chart = createChart(null, null, { renderer: "svg", ssr: true, width: WIDTHS[size], height });
  try {
    chart.setOption({ animation: false, ...option });
    return chart
      .renderToSVGString()
      .replaceAll(/ (?:style|class|ecmeta_\w+|xmlns:xlink|baseProfile|version)="[^"]*"/g, "")
      .replaceAll(/<style[^>]*>[\s\S]*?<\/style>/g, "")
      .replace(
        /^<svg width="\d+" height="\d+"/,
        `<svg class="${size}" role="img" aria-label="${escaped(label)}" preserveAspectRatio="xMidYMid meet"`,
      );
  } finally {
    chart.dispose();
  }
}

interface ChartProps {
  readonly option: EChartsCoreOption;
  /** The description of the chart for screen readers. */
  readonly label: string;
  readonly height?: number;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
