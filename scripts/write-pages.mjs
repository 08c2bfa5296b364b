// Writes the files that follow from the code, from the build: the JSON Schemas of the configurations, the pages of metrics, alerts, tables and
// practices, and the table of routes in docs/access.md.
import { readFileSync, writeFileSync } from "node:fs";
import { renderAlertsPage } from "../dist/alerts/render/table.js";
import { alertConfigJsonSchema } from "../dist/cli/alerts/config.js";
import { renderPracticesPage } from "../dist/domain/practice/page.js";
import { routesMarkdown } from "../dist/reports/server/routes-page.js";
import { configJsonSchema } from "../dist/runtime/config/schema.js";
import { renderTablesPage } from "../dist/runtime/store/schema/tables-page.js";
import { renderMetricsTable } from "../dist/runtime/telemetry/metrics-table.js";

const [BEGIN, END] = ["<!-- routes: written by npm run generate -->", "<!-- end of routes -->"];
const json = (value) => `${JSON.stringify(value, null, 2)}\n`;
const access = readFileSync("docs/access.md", "utf8");
const files = {
  "config/gpu-ledger.schema.json": json(configJsonSchema()),
  "config/alerts.schema.json": json(alertConfigJsonSchema()),
  "docs/metrics.md": renderMetricsTable(),
  "docs/alerts.md": renderAlertsPage(),
  "docs/tables.md": renderTablesPage(),
  "docs/practices.md": renderPracticesPage(),
  "docs/access.md": `${access.split(BEGIN)[0]}${BEGIN}\n\n${routesMarkdown()}\n\n${END}${access.split(END)[1]}`,
};
for (const [path, text] of Object.entries(files)) writeFileSync(path, text);
