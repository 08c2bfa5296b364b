import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { manifestFiles } from "../manifests/files.ts";
import { configJsonSchema } from "../runtime/config/schema.ts";
import { renderMetricsTable } from "../runtime/telemetry/metrics-table.ts";
import type { CommandContext } from "./context.ts";

/** A file to write, by its name in the folder. */
interface GeneratedFile {
  readonly name: string;
  readonly text: string;
}

/** `gpu-ledger generate config|metrics|manifests --out DIR`: files that are derived from the code. */
export function addGenerate(program: Command, { stdout, version }: CommandContext): void {
  const generate = program.command("generate").description("write files that are derived from the code");
  const add = (name: string, description: string, files: () => readonly GeneratedFile[]): void => {
    generate
      .command(name)
      .description(description)
      .requiredOption("--out <folder>", "where to write")
      .action(({ out }: { out: string }) => {
        mkdirSync(out, { recursive: true });
        for (const { name: file, text } of files()) {
          const path = join(out, file);
          writeFileSync(path, text);
          stdout.write(`${path}\n`);
        }
      });
  };
  add("config", "write the JSON Schema of the configuration, for editors", () => [
    { name: "gpu-ledger.schema.json", text: `${JSON.stringify(configJsonSchema(), null, 2)}\n` },
  ]);
  add("metrics", "write the table of the program's own metrics", () => [
    { name: "metrics.md", text: renderMetricsTable() },
  ]);
  add("manifests", "write the objects that run gpu-ledger on a Kubernetes cluster", () => manifestFiles(version));
}
