// The part of Apache ECharts that the page draws with: see package.json for the command
// that builds charts.min.js from it.
export { init, use, getInstanceByDom } from "echarts/core";
import { use } from "echarts/core";
import { BarChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart } from "echarts/charts";
import { DataZoomInsideComponent, GridComponent, LegendComponent, MarkLineComponent, ParallelComponent, TooltipComponent, VisualMapContinuousComponent } from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";
use([BarChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart, DataZoomInsideComponent,
  GridComponent, LegendComponent, MarkLineComponent, ParallelComponent, TooltipComponent, VisualMapContinuousComponent, CanvasRenderer]);
