import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { configJsonSchema } from "../runtime/config/schema.ts";
import { renderMetricsTable } from "../runtime/telemetry/metrics-table.ts";
import type { CommandContext } from "./context.ts";

/** `gpu-ledger generate config|metrics --out DIR`: files that are derived from the code. */
export function addGenerate(program: Command, { stdout }: CommandContext): void {
  const generate = program.command("generate").description("write files that are derived from the code");
  generate
    .command("config")
    .description("write the JSON Schema of the configuration, for editors")
    .requiredOption("--out <folder>", "where to write it")
    .action(({ out }: { out: string }) => {
      mkdirSync(out, { recursive: true });
      const path = join(out, "gpu-ledger.schema.json");
      writeFileSync(path, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
      stdout.write(`${path}\n`);
    });
  generate
    .command("metrics")
    .description("write the table of the program's own metrics")
    .requiredOption("--out <folder>", "where to write it")
    .action(({ out }: { out: string }) => {
      mkdirSync(out, { recursive: true });
      const path = join(out, "metrics.md");
      writeFileSync(path, renderMetricsTable());
      stdout.write(`${path}\n`);
    });
}
