// Writes the files that follow from the code, from the build: the JSON Schemas of the configurations, the pages of metrics, alerts, tables and
// practices, the table of routes in docs/access.md, and the dimensions in docs/scenarios.md.
import { readFileSync, writeFileSync } from "node:fs";
import { renderAlertsPage } from "../dist/alerts/render/table.js";
import { alertConfigJsonSchema } from "../dist/cli/alerts/config.js";
import { dimensionsMarkdown } from "../dist/domain/charge/dimensions-page.js";
import { renderPracticesPage } from "../dist/domain/practice/page.js";
import { routesMarkdown } from "../dist/reports/server/routes-page.js";
import { configJsonSchema } from "../dist/runtime/config/schema.js";
import { renderTablesPage } from "../dist/runtime/store/schema/tables-page.js";
import { renderMetricsTable } from "../dist/runtime/telemetry/metrics-table.js";

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** Returns a page with another text between the comments that begin and end a part. */
function withPart(path, part, text) {
  const [begin, end] = [`<!-- ${part}: written by npm run generate -->`, `<!-- end of ${part} -->`];
  const page = readFileSync(path, "utf8");
  return `${page.split(begin)[0]}${begin}\n\n${text}\n\n${end}${page.split(end)[1]}`;
}

const files = {
  "config/gpu-ledger.schema.json": json(configJsonSchema()),
  "config/alerts.schema.json": json(alertConfigJsonSchema()),
  "docs/metrics.md": renderMetricsTable(),
  "docs/alerts.md": renderAlertsPage(),
  "docs/tables.md": renderTablesPage(),
  "docs/practices.md": renderPracticesPage(),
  "docs/access.md": withPart("docs/access.md", "routes", routesMarkdown()),
  "docs/scenarios.md": withPart("docs/scenarios.md", "dimensions", dimensionsMarkdown()),
};
for (const [path, text] of Object.entries(files)) writeFileSync(path, text);
