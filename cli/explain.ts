import { Option, type Command } from "commander";
import { periodOf } from "../domain/period.ts";
import { explain } from "../reports/explain/read.ts";
import type { Question } from "../reports/explain/explanation.ts";
import { explanationText } from "../reports/explain/text.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { periodOfArgument } from "./close.ts";
import { CommandError, type CommandContext } from "./context.ts";
import { openStore } from "./store.ts";
import { loadLedgerConfig } from "./ledger-config.ts";

interface Options {
  readonly config?: string;
  readonly team?: string;
  readonly month?: string;
  readonly state?: string;
  readonly namespace?: string;
  readonly policy?: string;
  readonly format: "text" | "json";
}

/** `gpu-ledger explain`: why a charge is what it is, down to the samples. */
export function addExplain(program: Command, context: CommandContext): void {
  program
    .command("explain")
    .description(
      "walk from a charge down to the samples: its state, rule, owner, price, workloads, evidence and coverage",
    )
    .argument("[line]", "a GPU at a time, cluster/node/gpu@2026-03-02T10:15:00Z; without it, what the options ask for")
    .option("--team <team>", "who pays: a team, platform or unowned")
    .option("--month <month>", "what was booked in 2026-03, say; the running one by default")
    .option("--state <state>", "active, idle, unobserved, starting, waiting, unavailable, stranded, unallocated, …")
    .option("--namespace <namespace>", "of the holders")
    .option("--policy <name>", "the billing policy by default")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]).default("text"))
    .action(async (line: string | undefined, options: Options) => {
      const { config } = loadLedgerConfig(options.config, context.env);
      const { book, policies } = ledgerOf(config);
      const policy = options.policy ?? policies[0].name;
      if (!policies.some(({ name }) => name === policy))
        throw new CommandError(`--policy ${policy}: one of ${policies.map(({ name }) => name).join(", ")}`, 2);
      const question = { policy, ...(line === undefined ? ofMonth(options) : ofLine(line)) };
      const store = await openStore(config);
      try {
        const explanation = await explain(store, question);
        const text =
          options.format === "json"
            ? JSON.stringify(explanation, null, 2)
            : explanationText(explanation, book.currency);
        context.stdout.write(`${text}\n`);
      } finally {
        await store.close();
      }
    });
}

function ofMonth({ team, month, state, namespace }: Options): Omit<Question, "policy"> {
  return {
    when: { billingPeriod: month === undefined ? periodOf(Date.now()) : periodOfArgument(month) },
    ...(team === undefined ? {} : { team }),
    ...(state === undefined ? {} : { state }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

function ofLine(line: string): Omit<Question, "policy"> {
  const [, cluster, node, gpu, time] = /^([^/]+)\/([^/]+)\/(\d{1,4})@(.+)$/.exec(line) ?? [];
  const at = Date.parse(time ?? "");
  if (cluster === undefined || node === undefined || Number.isNaN(at))
    throw new CommandError(`${line}: a line is cluster/node/gpu@time, such as prod/gpu-a/3@2026-03-02T10:15:00Z`, 2);
  return { when: { at, gpu: { cluster, node, slot: Number(gpu) } } };
}
