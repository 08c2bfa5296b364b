import { Option, type Command } from "commander";
import { instantOf, INSTANT_FORM } from "../domain/price/instant.ts";
import { readAudit } from "../processors/ledger/closing/audit.ts";
import { addAuditPractices } from "./audit/practices.ts";
import { CommandError, type CommandContext } from "./context.ts";
import { openStore } from "./store.ts";
import { renderTable } from "./table.ts";
import { loadLedgerConfig } from "./ledger-config.ts";

interface Options {
  readonly config?: string;
  readonly since?: string;
  readonly until?: string;
  readonly who?: string;
  readonly what?: string;
  readonly format: "table" | "json";
}

/** Adds `gpu-ledger audit [practices]`: changes to money and tokens, sign-ins, exports and refused tokens, with person, time and reason. */
export function addAudit(program: Command, context: CommandContext): void {
  const audit = program
    .command("audit")
    .description("list the audit trail, or check the practices of the clusters; see docs/practices.md");
  addAuditPractices(audit, context);
  audit
    .command("list", { isDefault: true })
    .description("list changes of money and tokens, sign-ins, exports and refused tokens: who, when, what, why")
    .option("--since <time>", "from a date or time in UTC on")
    .option("--until <time>", "before a date or time in UTC")
    .option("--who <name>", "only entries of a person or token: a name, or a glob such as *@example.com")
    .option("--what <entry>", "only entries of a kind: a name, or a glob such as export* or 'sign*'")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .action(async ({ config: path, since, until, who, what, format }: Options) => {
      const from = since === undefined ? undefined : momentOf("--since", since);
      const before = until === undefined ? undefined : momentOf("--until", until);
      const { config } = loadLedgerConfig(path, context.env);
      const store = await openStore(config);
      try {
        const entries = await readAudit(store, { from, until: before, who, what });
        const rows = entries.map(({ at, who, what, subject, why }) => [at, who, what, subject, why]);
        const text =
          format === "json"
            ? JSON.stringify(entries, null, 2)
            : renderTable(["when", "who", "what", "of", "why"], rows);
        context.stdout.write(`${entries.length === 0 && format === "table" ? "no entries" : text}\n`);
      } finally {
        await store.close();
      }
    });
}

function momentOf(option: string, text: string): number {
  const moment = instantOf(text);
  if (moment === undefined) throw new CommandError(`${option} ${text}: must be ${INSTANT_FORM}`, 2);
  return moment;
}
