import { Option, type Command } from "commander";
import { DEFAULT_DIMENSIONS, readDimensions } from "../domain/charge/dimension.ts";
import type { Policy } from "../domain/policy/policy.ts";
import { ledgerOf, type Ledger } from "../runtime/config/ledger.ts";
import { BILL_FORMATS, printBills } from "../scenarios/print.ts";
import { periodOfArgument } from "./close.ts";
import { CommandError, orWrongUse, type CommandContext } from "./context.ts";
import { computeBills, createProgress } from "./on-demand-bill.ts";
import { openStore } from "./store.ts";
import { loadLedgerConfig } from "./ledger-config.ts";

interface Options {
  readonly policy: readonly string[];
  readonly by: string;
  readonly config?: string;
  readonly format: (typeof BILL_FORMATS)[number];
}

/** Adds `gpu-ledger bill`: the bill of a month under any policy of the configuration, kept or not. */
export function addBill(program: Command, context: CommandContext): void {
  program
    .command("bill")
    .description("compute the bill of a month from the metered usage, under one or more policies side by side")
    .argument("<period>", "a month, such as 2026-03")
    .option("--policy <name...>", "policies of the configuration, kept or not (default: the billing policy)", [])
    .option("--by <dimensions>", "the dimensions of the lines", DEFAULT_DIMENSIONS.join(","))
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "the format of the output").choices([...BILL_FORMATS]).default("table"))
    .action(async (name: string, options: Options) => {
      const period = periodOfArgument(name);
      const { by } = orWrongUse("--by", readDimensions(options.by));
      const { config } = loadLedgerConfig(options.config, context.env);
      const ledger = ledgerOf(config);
      const policies = policiesOf(ledger, options.policy);
      const store = await openStore(config);
      try {
        const rules = policies.map((policy) => ({ rules: ledger, policy }));
        const onProgress = createProgress((text) => context.stderr.write(text));
        const computed = await computeBills(store, rules, { span: period, by, onProgress });
        const bills = new Map(policies.map(({ name }, index) => [name, computed[index]!]));
        const { currency } = ledger.book;
        context.stdout.write(printBills(bills, { currency, by, format: options.format }));
      } finally {
        await store.close();
      }
    });
}

function policiesOf({ policies }: Ledger, names: readonly string[]): readonly Policy[] {
  if (names.length === 0) return [policies[0]];
  return names.map((name) => {
    const policy = policies.find((one) => one.name === name);
    if (policy !== undefined) return policy;
    throw new CommandError(`--policy ${name}: must be one of: ${policies.map((one) => one.name).join(", ")}`, 2);
  });
}
