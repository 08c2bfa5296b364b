import { BarChart, LineChart } from "echarts/charts";
import { GridComponent } from "echarts/components";
import { init, use, type EChartsCoreOption } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { VNode } from "preact";

use([BarChart, LineChart, GridComponent, SVGRenderer]);

/** A chart is drawn for screens and paper, and for telephones, whose texts would be too small otherwise: the page's style shows one. */
const WIDTHS = { wide: 1_100, narrow: 360 } as const;
/** How large texts are taken to be; the page's style says their font. */
const TEXT_SIZE = 12;

/** Colours of axes and texts, which the page's style gives: they follow light and dark. */
export const AXIS = {
  axisLine: { lineStyle: { color: "var(--rule)" } },
  axisTick: { show: false },
  axisLabel: { color: "var(--quiet)", fontSize: TEXT_SIZE },
  splitLine: { lineStyle: { color: "var(--rule)" } },
} as const;

/** A chart, drawn on the server, that says in words what it shows; no script and no style of its own is in it. */
export function Chart({ option, label, height = 220 }: ChartProps): VNode {
  const drawn = (["wide", "narrow"] as const).map((size) => svgOf(size, option, label, height));
  return <figure class="chart" dangerouslySetInnerHTML={{ __html: drawn.join("") }} />;
}

function svgOf(size: keyof typeof WIDTHS, option: EChartsCoreOption, label: string, height: number): string {
  const chart = init(null, null, { renderer: "svg", ssr: true, width: WIDTHS[size], height });
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
  /** What the chart shows, for who does not see it. */
  readonly label: string;
  readonly height?: number;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
