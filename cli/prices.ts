import { Option, type Command } from "commander";
import { CommandError, type CommandContext } from "./context.ts";
import { readBookOf } from "./prices/book.ts";
import { checkBookOf, renderCheck } from "./prices/check.ts";
import { instantOption, nodesOf, type NodeOptions } from "./prices/nodes.ts";
import { renderShown, showPrices } from "./prices/show.ts";
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

/** Adds `gpu-ledger prices check|show`: checks of a price book, and its prices for nodes. */
export function addPrices(program: Command, context: CommandContext): void {
  const prices = program.command("prices").description("look at a price book: the configuration's, or a file's");
  const format = (): Option =>
    new Option("--format <format>", "table or json").choices(["table", "json"]).default("table");

  prices
    .command("check")
    .description("say where a book contradicts itself, has gaps, or has prices that no node ever gets")
    .argument("[file]", "a price book in YAML, instead of the configuration's")
    .option("--config <file>", "the configuration")
    .option("--from <time>", "with a store: since when its nodes are looked at; 30 days ago by default")
    .option("--until <time>", "with a store: until when; now by default")
    .addOption(format())
    .action(async (file: string | undefined, options: CheckOptions) => {
      const untilMillis = instantOption("--until", options.until) ?? Date.now();
      const fromMillis = instantOption("--from", options.from) ?? untilMillis - 30 * DAY_MILLIS;
      if (fromMillis >= untilMillis) throw new CommandError("--from: it is before --until", 2);
      const source = readBookOf(file, options.config, context.env);
      const check = await checkBookOf(source, { fromMillis, untilMillis });
      const text = options.format === "json" ? JSON.stringify(check, null, 2) : renderCheck(check);
      context.stdout.write(`${text}\n`);
      const { length } = check.problems;
      if (length > 0) throw new CommandError(`${check.source}: ${length} problem${length === 1 ? "" : "s"}`);
    });

  prices
    .command("show")
    .description("say which entry prices which node at a time: the store's nodes, or one that the options describe")
    .argument("[file]", "a price book in YAML, instead of the configuration's")
    .option("--config <file>", "the configuration")
    .option("--at <time>", "a date or a time in UTC; now by default")
    .option("--cluster <name>", "of the node; of the store's nodes, those of this cluster")
    .option("--node <name>", "its name; of the store's nodes, this one")
    .option("--region <region>")
    .option("--zone <zone>")
    .option("--instance-type <type>")
    .option("--pool <pool>")
    .option("--model <model>", "of its GPUs, as the node's labels write it: NVIDIA-H100-80GB-HBM3")
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
