import { readDimensions } from "../../domain/charge/dimension.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { ledgerOf, type Ledger } from "../../runtime/config/ledger.ts";
import type { PrintFormat } from "../../reports/format/names.ts";
import { printBills } from "../../scenarios/print.ts";
import { periodOfArgument } from "../period.ts";
import { CommandError, orWrongUse, type CommandContext } from "../context.ts";
import { computeBills, createProgress } from "../on-demand-bill.ts";
import { openLedger } from "../store.ts";
import { loadLedgerConfig } from "../ledger-config.ts";

/** The options of `gpu-ledger bill`. */
export interface BillOptions {
  readonly policy: readonly string[];
  readonly by: string;
  readonly config?: string;
  readonly format: PrintFormat;
}

/** Prints the bill of a month under the policies of the options. */
export async function runBill(name: string, options: BillOptions, context: CommandContext): Promise<void> {
  const period = periodOfArgument(name);
  const { by } = orWrongUse("--by", readDimensions(options.by));
  const { config } = loadLedgerConfig(options.config, context.env);
  const policies = policiesOf(ledgerOf(config), options.policy);
  const { store, ledger } = await openLedger(config, context);
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
}

function policiesOf({ policies }: Ledger, names: readonly string[]): readonly Policy[] {
  if (names.length === 0) return [policies[0]];
  return names.map((name) => {
    const policy = policies.find((one) => one.name === name);
    if (policy !== undefined) return policy;
    throw new CommandError(`--policy ${name}: must be one of: ${policies.map((one) => one.name).join(", ")}`, 2);
  });
}
