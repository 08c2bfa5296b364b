import { Option, type Command } from "commander";
import { CHARGE_STATES } from "../domain/charge/charge.ts";
import { periodOf } from "../domain/period.ts";
import { explain } from "../reports/explain/read-explanation.ts";
import { explanationText } from "../reports/explain/text.ts";
import { readGpuAt } from "../reports/question/line.ts";
import { readFilters, type ChargesQuestion, type Filter } from "../reports/question/question.ts";
import { readSpan } from "../reports/question/span.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { periodOfArgument } from "./close.ts";
import { CommandError, orWrongUse, type CommandContext } from "./context.ts";
import { keptPolicies } from "./kept-policies.ts";
import { openStore } from "./store.ts";
import { loadLedgerConfig } from "./ledger-config.ts";
import { readable } from "./table.ts";

interface Options {
  readonly config?: string;
  readonly team?: string;
  readonly month?: string;
  readonly span?: string;
  readonly where: readonly string[];
  readonly state?: string;
  readonly namespace?: string;
  readonly policy?: string;
  readonly format: "text" | "json";
}

/** Adds `gpu-ledger explain`: the reasons of a charge, down to the samples. */
export function addExplain(program: Command, context: CommandContext): void {
  program
    .command("explain")
    .description("explain a charge down to its samples: state, rule, owner, price, workloads, evidence and coverage")
    .argument("[line]", "a GPU at a time, cluster/node/gpu@2026-03-02T10:15:00Z (default: the charges of the options)")
    .option("--month <month>", "the bookings of a month, such as 2026-03 (default: the running month)")
    .option("--span <span>", "the usage in a time instead: 2026-03-01/2026-03-15, 7d, today, …")
    .option("--team <team>", "the payer: a team, platform or unowned")
    .addOption(new Option("--state <state>", "the state of the time").choices(CHARGE_STATES))
    .option("--namespace <namespace>", "the namespace of the holders")
    .option("--where <conditions...>", "only lines with these values, such as workload=train costCenter=4711", [])
    .option("--policy <name>", "a policy (default: the billing policy)")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]).default("text"))
    .action(async (line: string | undefined, options: Options) => {
      const { config } = loadLedgerConfig(options.config, context.env);
      const ledger = ledgerOf(config);
      const [policy] = keptPolicies(ledger, options.policy === undefined ? [] : [options.policy]);
      const question =
        line === undefined
          ? { policy, ...ofOptions(options) }
          : { policy, ...orWrongUse("line", readGpuAt(line)).line, where: whereOf(options) };
      const store = await openStore(config);
      try {
        const explanation = await explain(store, question);
        const text =
          options.format === "json"
            ? JSON.stringify(explanation, null, 2)
            : readable(explanationText(explanation, ledger.book.currency));
        context.stdout.write(`${text}\n`);
      } finally {
        await store.close();
      }
    });
}

/** The most common conditions. Each is an option of its own. */
const SHORT = ["team", "state", "namespace"] as const;

function ofOptions(options: Options): Omit<ChargesQuestion, "policy"> {
  const { month, span } = options;
  if (month !== undefined && span !== undefined) throw new CommandError("--month and --span: give only one of them", 2);
  const where = whereOf(options);
  if (span !== undefined)
    return { kind: "showback", span: orWrongUse("--span", readSpan(span, Date.now())).span, where };
  return { kind: "chargeback", span: month === undefined ? periodOf(Date.now()) : periodOfArgument(month), where };
}

function whereOf(options: Options): readonly Filter[] {
  const short = SHORT.flatMap((dimension) => {
    const value = options[dimension];
    return value === undefined ? [] : [{ dimension, values: [value] }];
  });
  return [...short, ...orWrongUse("--where", readFilters(options.where)).where];
}
