import { readdirSync, readFileSync } from "node:fs";
import type { GeneratedFile } from "../../alerts/exporter/files.ts";
import { renderAlertsPage } from "../../alerts/render/table.ts";
import { renderPracticesPage } from "../../domain/practice/page.ts";
import { configJsonSchema } from "../../runtime/config/schema.ts";
import { renderTablesPage } from "../../runtime/store/schema/tables-page.ts";
import { renderMetricsTable } from "../../runtime/telemetry/metrics-table.ts";
import { alertConfigJsonSchema } from "../alerts/config.ts";
import type { CommandContext } from "../context.ts";
import { writeFiles } from "../generate/write-files.ts";

/** The subcommands whose files follow from the code alone. */
export type DerivedFiles = "config" | "metrics" | "tables" | "practices" | "manifests";

/** The plain manifests, which the build puts beside the code. */
const MANIFESTS = new URL("../../deploy/kubernetes/", import.meta.url);

const FILES: Readonly<Record<DerivedFiles, () => readonly GeneratedFile[]>> = {
  config: () => [
    { name: "gpu-ledger.schema.json", text: `${JSON.stringify(configJsonSchema(), null, 2)}\n` },
    { name: "alerts.schema.json", text: `${JSON.stringify(alertConfigJsonSchema(), null, 2)}\n` },
  ],
  metrics: () => [
    { name: "metrics.md", text: renderMetricsTable() },
    { name: "alerts.md", text: renderAlertsPage() },
  ],
  tables: () => [{ name: "tables.md", text: renderTablesPage() }],
  practices: () => [{ name: "practices.md", text: renderPracticesPage() }],
  manifests: () =>
    readdirSync(MANIFESTS).map((name) => ({ name, text: readFileSync(new URL(name, MANIFESTS), "utf8") })),
};

/** Writes the files of a subcommand into a folder. */
export function runGenerate(name: DerivedFiles, out: string, context: CommandContext): void {
  if (name === "manifests")
    context.stderr.write(
      "generate manifests will go: the files are deploy/kubernetes of the package, made from the chart in deploy/\n",
    );
  writeFiles(out, FILES[name](), context);
}
