import { periodOf } from "../../domain/period.ts";
import { readStatements } from "../../reports/read/statements.ts";
import { statementsText } from "../closing/statement.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { periodOfArgument } from "../period.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { keptPolicies } from "../kept-policies.ts";
import { openLedger } from "../store.ts";
import { loadLedgerConfig } from "../ledger-config.ts";

/** The options of `gpu-ledger statement`. */
export interface StatementOptions {
  readonly config?: string;
  readonly team?: string;
  readonly policy?: string;
  readonly format: "text" | "json";
}

/** Prints the statements of a month. */
export async function runStatement(
  name: string | undefined,
  { team, format, ...options }: StatementOptions,
  context: CommandContext,
): Promise<void> {
  const period = name === undefined ? periodOf(Date.now()) : periodOfArgument(name);
  const { config } = loadLedgerConfig(options.config, context.env);
  const [policy] = keptPolicies(ledgerOf(config), options.policy === undefined ? [] : [options.policy]);
  const { store, ledger } = await openLedger(config, context);
  try {
    const where = team === undefined ? [] : [{ dimension: "team", values: [team] }];
    const month = await readStatements(store, { period, policy, where }, ledger.book.currency);
    if (team !== undefined && month.statements.length === 0)
      throw new CommandError(`${team} has no charges in ${period.name}`);
    context.stdout.write(`${format === "json" ? JSON.stringify(month, null, 2) : statementsText(month)}\n`);
  } finally {
    await store.close();
  }
}
