import { Option, type Command } from "commander";
import { CommandError, type CommandContext } from "./context.ts";
import { readBookOf } from "./prices/book.ts";
import { checkBookOf, renderCheck } from "./prices/check.ts";
import { instantOption, nodesOf, type NodeOptions } from "./prices/nodes.ts";
import { renderShown, showPrices } from "./prices/show.ts";
import { listPricesText } from "../snapshot/list-prices.ts";
import { DAY_MILLIS } from "../domain/time.ts";

interface CheckOptions {
  readonly config?: string;
  readonly from?: string;
  readonly until?: string;
  readonly format: "table" | "json";
}

interface ShowOptions extends NodeOptions {
  readonly config?: string;
  readonly at?: string;
  readonly format: "table" | "json";
}

/** Adds `gpu-ledger prices check|show|list`: checks of a price book, its prices for nodes, and public list prices. */
export function addPrices(program: Command, context: CommandContext): void {
  const prices = program.command("prices").description("check or show a price book of the configuration or of a file");
  const format = (): Option =>
    new Option("--format <format>", "table or json").choices(["table", "json"]).default("table");

  prices
    .command("check")
    .description("list contradictions, gaps and unused prices of a price book")
    .argument("[file]", "a price book in YAML (default: the configuration's)")
    .option("--config <file>", "the configuration")
    .option("--from <time>", "with a store: the start of the checked time (default: 30 days ago)")
    .option("--until <time>", "with a store: the end of the checked time (default: now)")
    .addOption(format())
    .action(async (file: string | undefined, options: CheckOptions) => {
      const untilMillis = instantOption("--until", options.until) ?? Date.now();
      const fromMillis = instantOption("--from", options.from) ?? untilMillis - 30 * DAY_MILLIS;
      if (fromMillis >= untilMillis) throw new CommandError("--from: must be before --until", 2);
      const source = readBookOf(file, options.config, context.env);
      const check = await checkBookOf(source, { fromMillis, untilMillis });
      const text = options.format === "json" ? JSON.stringify(check, null, 2) : renderCheck(check);
      context.stdout.write(`${text}\n`);
      const { length } = check.problems;
      if (length > 0) throw new CommandError(`${check.source}: ${length} problem${length === 1 ? "" : "s"}`);
    });

  prices
    .command("list")
    .description("print a price book with the public list prices of clouds, for a first look")
    .action(() => {
      context.stdout.write(listPricesText());
    });

  prices
    .command("show")
    .description(
      "show the entry that prices each node at a time, for the nodes of the store or for the node of the options",
    )
    .argument("[file]", "a price book in YAML (default: the configuration's)")
    .option("--config <file>", "the configuration")
    .option("--at <time>", "a date or a time in UTC (default: now)")
    .option("--cluster <name>", "the cluster of the node or of the store's nodes")
    .option("--node <name>", "the name of the node")
    .option("--region <region>")
    .option("--zone <zone>")
    .option("--instance-type <type>")
    .option("--pool <pool>")
    .option("--model <model>", "the model of the GPUs in the form of node labels: NVIDIA-H100-80GB-HBM3")
    .addOption(new Option("--capacity-type <type>").choices(["on-demand", "spot", "reserved", "owned"]))
    .option("--node-label <name=value...>", "labels of the node")
    .addOption(format())
    .action(async (file: string | undefined, options: ShowOptions) => {
      const atMillis = instantOption("--at", options.at) ?? Date.now();
      const source = readBookOf(file, options.config, context.env);
      if (!("book" in source)) {
        for (const { key, line, message } of source.problems)
          context.stderr.write(`${key}${line === undefined ? "" : ` (line ${line})`}: ${message}\n`);
        throw new CommandError(`${source.name} is not a valid price book`);
      }
      const nodes = await nodesOf(options, source.config, atMillis);
      const shown = showPrices(source.book, nodes, atMillis);
      context.stdout.write(
        `${options.format === "json" ? JSON.stringify(shown, null, 2) : renderShown(shown, atMillis)}\n`,
      );
    });
}
