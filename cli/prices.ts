import { Option, type Command } from "commander";
import type { PricesCheckOptions, PricesFromOpenCostOptions, PricesShowOptions } from "./actions/prices.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger prices check|show|list|from-opencost`: checks of a price book, its prices for nodes, public list prices, and those of OpenCost. */
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
    .action(async (file: string | undefined, options: PricesCheckOptions) =>
      (await import("./actions/prices.ts")).runPricesCheck(file, options, context),
    );

  prices
    .command("list")
    .description("print a price book with the public list prices of clouds, for a first look")
    .action(async () => (await import("./actions/prices.ts")).runPricesList(context));

  prices
    .command("from-opencost")
    .description("print OpenCost's custom pricing or CSV pricing as a price book")
    .argument("<file>", "default.json, its ConfigMap, or a CSV file")
    .option("--from <date>", "the first day of the prices in UTC (default: of the running month)")
    .option("--currency <code>", "the currency of the prices (default: that of the file, or else USD)")
    .action(async (file: string, options: PricesFromOpenCostOptions) =>
      (await import("./actions/prices.ts")).runPricesFromOpenCost(file, options, context),
    );

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
    .action(async (file: string | undefined, options: PricesShowOptions) =>
      (await import("./actions/prices.ts")).runPricesShow(file, options, context),
    );
}
