import { readFileSync } from "node:fs";
import { Option, type Command } from "commander";
import { readDimensions } from "../domain/charge/dimension.ts";
import type { PriceBook } from "../domain/price/book.ts";
import { readBook } from "../domain/price/read.ts";
import { createNodePrices } from "../processors/ledger/charge/node-prices.ts";
import { nodesToRemove } from "../processors/ledger/what-if/fewer-nodes.ts";
import { prepareChanges, type AppliedChanges } from "../processors/ledger/what-if/apply.ts";
import { readSpan } from "../reports/question/span.ts";
import { ledgerOf, writtenBook, type Ledger } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";
import { readWhatIf, type WhatIf } from "../runtime/config/what-if.ts";
import { describeProblem, type FileProblem } from "../runtime/config/yaml.ts";
import { COMPARISON_FORMATS, printComparison } from "./advise/comparison.ts";
import { CommandError, orWrongUse, type CommandContext } from "./context.ts";
import { loadLedgerConfig } from "./ledger-config.ts";
import { computeBill, createProgress } from "./on-demand-bill.ts";
import { openStore } from "./store.ts";

interface Options {
  readonly whatIf: string;
  readonly by: string;
  readonly config?: string;
  readonly format: (typeof COMPARISON_FORMATS)[number];
}

/** Adds `gpu-ledger advise`: the bill of a time beside the bill that it would have been after a change. */
export function addAdvise(program: Command, context: CommandContext): void {
  program
    .command("advise")
    .description("compute the bill of a past time as it would have been after a change; see docs/advice.md")
    .argument("[span]", "2026-03, 2026-03-01/2026-03-15, 7d, lastmonth, …", "lastmonth")
    .requiredOption("--what-if <file>", "the change: releases, smaller parts, other GPUs, prices, a policy")
    .option("--by <dimensions>", "the dimensions of the lines", "team")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "how").choices([...COMPARISON_FORMATS]).default("table"))
    .action(async (name: string, options: Options) => {
      const { span } = orWrongUse("span", readSpan(name, Date.now()));
      const { by } = orWrongUse("--by", readDimensions(options.by));
      const { config } = loadLedgerConfig(options.config, context.env);
      const ledger = ledgerOf(config);
      const whatIf = readFile(options.whatIf);
      const other = otherLedger(ledger, config, whatIf, options.whatIf);
      const store = await openStore(config);
      try {
        const ofNodes = whatIf.changes.filter((change) => change.what === "remove");
        const ofHolders = whatIf.changes.filter((change) => change.what !== "remove");
        const changes = prepareChanges(ofHolders, {
          owners: ledger.owners,
          prices: createNodePrices(other.book),
          freedLeave: whatIf.freed === "leave",
          isRemoved: await nodesToRemove(store, ofNodes, span),
        });
        const bill = (name: string, of: Ledger, change?: AppliedChanges["apply"]) => {
          const onProgress = createProgress(name, (text) => context.stderr.write(text));
          return computeBill(store, of, { policy: of.policies[0], span, by: [...by, "state"], change, onProgress });
        };
        const was = await bill("as it was", ledger);
        const otherwise = await bill("otherwise", other, changes.apply);
        const { currency } = ledger.book;
        const of = {
          was,
          otherwise,
          changes,
          span: span.name,
          policies: [ledger.policies[0].name, other.policies[0].name],
        };
        context.stdout.write(printComparison(of, { by, currency, format: options.format }));
      } finally {
        await store.close();
      }
    });
}

function readFile(path: string): WhatIf {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandError(`--what-if ${path}: ${error instanceof Error ? error.message : String(error)}`, 2);
  }
  const read = readWhatIf(text);
  if ("problems" in read) throw wrongFile(path, read.problems);
  return read.value;
}

/** Returns the ledger with the policy and the prices of the change. */
function otherLedger(ledger: Ledger, config: Config, { policy, prices }: WhatIf, path: string): Ledger {
  const { policies } = ledger;
  const chosen = policy === undefined ? policies[0] : policies.find(({ name }) => name === policy);
  if (chosen === undefined) {
    const allowed = `one of: ${policies.map(({ name }) => name).join(", ")}`;
    throw wrongFile(path, [{ key: "policy", value: policy, allowed }]);
  }
  return { ...ledger, book: bookOf(ledger, config, prices, path), policies: [chosen] };
}

function bookOf({ book }: Ledger, config: Config, prices: WhatIf["prices"], path: string): PriceBook {
  if (prices === undefined) return book;
  const read = readBook({ ...writtenBook(config), prices });
  if ("book" in read) return read.book;
  const problems = read.problems.map(({ path: at, allowed }) => ({ key: at.join("."), allowed }));
  throw wrongFile(path, problems);
}

function wrongFile(path: string, problems: readonly FileProblem[]): CommandError {
  return new CommandError(`--what-if ${path}:\n${problems.map(describeProblem).join("\n")}`, 2);
}
