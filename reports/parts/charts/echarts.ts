import { BarChart, LineChart } from "echarts/charts";
import { GridComponent } from "echarts/components";
import { use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

use([BarChart, LineChart, GridComponent, SVGRenderer]);

/** Creates a chart of ECharts with the parts that the charts of pages have. */
export { init } from "echarts/core";
