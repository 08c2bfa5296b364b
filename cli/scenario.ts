import { readFile } from "node:fs/promises";
import { Option, type Command } from "commander";
import { describeProblem } from "../runtime/config/yaml.ts";
import { DEFAULT_DIMENSIONS, readDimensions } from "../domain/charge/dimension.ts";
import { differences } from "../scenarios/expectation.ts";
import { unplayable } from "../scenarios/play/unplayable.ts";
import { BILL_FORMATS, printBills } from "../scenarios/print.ts";
import { readScenario, ScenarioError } from "../scenarios/read.ts";
import type { Scenario } from "../scenarios/schema.ts";
import { CommandError, orWrongUse, type CommandContext } from "./context.ts";
import { runScenario } from "./scenario/run.ts";

interface Options {
  readonly by: string;
  readonly format: (typeof BILL_FORMATS)[number];
}

/** `gpu-ledger scenario FILE`: what a fleet that is written down costs, by the real pipeline in a folder that vanishes. */
export function addScenario(program: Command, context: CommandContext): void {
  program
    .command("scenario")
    .description("play a fleet that is written down through the whole pipeline, and print its bill under each policy")
    .argument("<file>", "a scenario in YAML; see docs/scenarios.md")
    .option("--by <dimensions>", "what lines are added up by", DEFAULT_DIMENSIONS.join(","))
    .addOption(new Option("--format <format>", "how").choices([...BILL_FORMATS]).default("table"))
    .action(async (file: string, options: Options) => {
      const { by } = orWrongUse("--by", readDimensions(options.by));
      const scenario = await scenarioOf(file);
      const bills = await runScenario(scenario);
      context.stdout.write(`${printBills(bills, { ...scenario, by, format: options.format }).trimEnd()}\n`);
      const wrong = differences(scenario, bills);
      for (const line of wrong) context.stderr.write(`${line}\n`);
      if (wrong.length > 0)
        throw new CommandError(`${file}: ${wrong.length} expectation${wrong.length === 1 ? " does" : "s do"} not hold`);
    });
}

async function scenarioOf(file: string): Promise<Scenario> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, 2);
  }
  try {
    const scenario = readScenario(text, file);
    const problems = unplayable(scenario);
    if (problems.length === 0) return scenario;
    throw new CommandError([`${file} cannot be played:`, ...problems.map(describeProblem)].join("\n"), 2);
  } catch (error) {
    if (error instanceof ScenarioError) throw new CommandError(error.message, 2);
    throw error;
  }
}
