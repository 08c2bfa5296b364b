import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { configJsonSchema } from "../runtime/config/schema.ts";
import type { CommandContext } from "./context.ts";

/** `gpu-ledger generate config --out DIR`: files that are derived from the code. */
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
}
