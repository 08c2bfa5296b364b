import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { GeneratedFile } from "../alerts/exporter/files.ts";
import { renderAlertsPage } from "../alerts/render/table.ts";
import { renderPracticesPage } from "../domain/practice/page.ts";
import { manifestFiles } from "../manifests/files.ts";
import { configJsonSchema } from "../runtime/config/schema.ts";
import { renderTablesPage } from "../runtime/store/schema/tables-page.ts";
import { renderMetricsTable } from "../runtime/telemetry/metrics-table.ts";
import { alertConfigJsonSchema } from "./alerts/config.ts";
import { addGenerateAlerts } from "./alerts/generate.ts";
import type { CommandContext } from "./context.ts";
import { addGenerateDashboards } from "./generate/dashboards.ts";
import { addGenerateSecrets } from "./generate/secrets.ts";
import { addGenerateStoreReaders } from "./generate/store-readers.ts";

/** Adds `gpu-ledger generate … --out DIR`: files that are derived from the code. */
export function addGenerate(program: Command, context: CommandContext): void {
  const { stdout, version } = context;
  const generate = program.command("generate").description("write files that are derived from the code");
  const write = (out: string, files: readonly GeneratedFile[]): void => {
    mkdirSync(out, { recursive: true });
    for (const { name, text } of files) {
      const path = join(out, name);
      writeFileSync(path, text);
      stdout.write(`${path}\n`);
    }
  };
  const add = (name: string, description: string, files: () => readonly GeneratedFile[]): void => {
    generate
      .command(name)
      .description(description)
      .requiredOption("--out <folder>", "the folder to write to")
      .action(({ out }: { out: string }) => write(out, files()));
  };
  add("config", "write the JSON Schemas of the configurations, for editors", () => [
    { name: "gpu-ledger.schema.json", text: `${JSON.stringify(configJsonSchema(), null, 2)}\n` },
    { name: "alerts.schema.json", text: `${JSON.stringify(alertConfigJsonSchema(), null, 2)}\n` },
  ]);
  add("metrics", "write the tables of the program's own metrics and of its alerts", () => [
    { name: "metrics.md", text: renderMetricsTable() },
    { name: "alerts.md", text: renderAlertsPage() },
  ]);
  add("tables", "write the page of the store's tables", () => [{ name: "tables.md", text: renderTablesPage() }]);
  add("practices", "write the page of the checks of practices", () => [
    { name: "practices.md", text: renderPracticesPage() },
  ]);
  add("manifests", "write the objects that run gpu-ledger on a Kubernetes cluster", () => manifestFiles(version));
  addGenerateAlerts(generate, context, write);
  addGenerateDashboards(generate, context, write);
  addGenerateStoreReaders(generate, context, write);
  addGenerateSecrets(generate, context);
}
