import { Option, type Command } from "commander";
import { instantOf, INSTANT_FORM } from "../domain/price/instant.ts";
import { readAudit } from "../processors/ledger/closing/audit.ts";
import { CommandError, type CommandContext } from "./context.ts";
import { openStore } from "./store.ts";
import { renderTable } from "./table.ts";
import { loadLedgerConfig } from "./ledger-config.ts";

interface Options {
  readonly config?: string;
  readonly since: string;
  readonly format: "table" | "json";
}

/** Adds `gpu-ledger audit`: the changes to money and tokens, with author, time and reason. */
export function addAudit(program: Command, context: CommandContext): void {
  program
    .command("audit")
    .description("list the changes of money and tokens: who, when, what, why")
    .option("--since <time>", "a date or time in UTC", "1970-01-01")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .action(async ({ config: path, since, format }: Options) => {
      const from = instantOf(since);
      if (from === undefined) throw new CommandError(`--since ${since}: must be ${INSTANT_FORM}`, 2);
      const { config } = loadLedgerConfig(path, context.env);
      const store = await openStore(config);
      try {
        const entries = await readAudit(store, from);
        const rows = entries.map(({ at, who, what, subject, why }) => [at, who, what, subject, why]);
        const text =
          format === "json"
            ? JSON.stringify(entries, null, 2)
            : renderTable(["when", "who", "what", "of", "why"], rows);
        context.stdout.write(`${entries.length === 0 && format === "table" ? "no changes" : text}\n`);
      } finally {
        await store.close();
      }
    });
}
