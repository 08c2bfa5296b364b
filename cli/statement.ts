import { Option, type Command } from "commander";
import { periodOf } from "../domain/period.ts";
import { readStatements } from "../reports/read/statements.ts";
import { statementsText } from "./closing/statement.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { periodOfArgument } from "./close.ts";
import { CommandError, type CommandContext } from "./context.ts";
import { keptPolicies } from "./kept-policies.ts";
import { openStore } from "./store.ts";
import { loadLedgerConfig } from "./ledger-config.ts";
import { readable } from "./table.ts";

interface Options {
  readonly config?: string;
  readonly team?: string;
  readonly policy?: string;
  readonly format: "text" | "json";
}

/** Adds `gpu-ledger statement`: the amount that each team pays for a month, open or closed. */
export function addStatement(program: Command, context: CommandContext): void {
  program
    .command("statement")
    .description("show the cost of a month by team and cost center: exact, and posted if the month is closed")
    .argument("[period]", "a month, such as 2026-03 (default: the running month)")
    .option("--team <team>", "one team; platform and unowned are teams too")
    .option("--policy <name>", "a kept policy (default: the billing policy)")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]).default("text"))
    .action(async (name: string | undefined, { team, format, ...options }: Options) => {
      const period = name === undefined ? periodOf(Date.now()) : periodOfArgument(name);
      const { config } = loadLedgerConfig(options.config, context.env);
      const ledger = ledgerOf(config);
      const [policy] = keptPolicies(ledger, options.policy === undefined ? [] : [options.policy]);
      const store = await openStore(config);
      try {
        const where = team === undefined ? [] : [{ dimension: "team", values: [team] }];
        const month = await readStatements(store, { period, policy, where }, ledger.book.currency);
        if (team !== undefined && month.statements.length === 0)
          throw new CommandError(`${team} has no charges in ${period.name}`);
        context.stdout.write(
          `${format === "json" ? JSON.stringify(month, null, 2) : readable(statementsText(month))}\n`,
        );
      } finally {
        await store.close();
      }
    });
}
