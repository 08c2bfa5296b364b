import { readdirSync, readFileSync } from "node:fs";
import type { GeneratedFile } from "../../alerts/exporter/files.ts";
import { renderAlertsPage } from "../../alerts/render/table.ts";
import { configJsonSchema } from "../../runtime/config/schema.ts";
import { renderMetricsTable } from "../../runtime/telemetry/metrics-table.ts";
import { alertConfigJsonSchema } from "../alerts/config.ts";
import type { CommandContext } from "../context.ts";
import { writeFiles } from "../generate/write-files.ts";

/** The subcommands that will go. */
export type LeavingFiles = "config" | "metrics" | "manifests";

/** The plain manifests, which the build puts beside the code. */
const MANIFESTS = new URL("../../deploy/kubernetes/", import.meta.url);

const FILES: Readonly<Record<LeavingFiles, () => readonly GeneratedFile[]>> = {
  config: () => [
    { name: "gpu-ledger.schema.json", text: `${JSON.stringify(configJsonSchema(), null, 2)}\n` },
    { name: "alerts.schema.json", text: `${JSON.stringify(alertConfigJsonSchema(), null, 2)}\n` },
  ],
  metrics: () => [
    { name: "metrics.md", text: renderMetricsTable() },
    { name: "alerts.md", text: renderAlertsPage() },
  ],
  manifests: () =>
    readdirSync(MANIFESTS).map((name) => ({ name, text: readFileSync(new URL(name, MANIFESTS), "utf8") })),
};

/** Writes the files of a subcommand into a folder, with a warning that names their successor. */
export function runGenerate(
  name: LeavingFiles,
  { out, successor }: { readonly out: string; readonly successor: string },
  context: CommandContext,
): void {
  context.stderr.write(`generate ${name} will go: use ${successor}\n`);
  writeFiles(out, FILES[name](), context);
}
