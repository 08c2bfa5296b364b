import { describeProblem } from "../../runtime/config/file-problem.ts";
import { readDimensions } from "../../domain/charge/dimension.ts";
import { nameOfObject } from "../../collectors/kubernetes/projection/kube-object.ts";
import { differences } from "../../scenarios/expectation.ts";
import { readWithin } from "../../scenarios/files.ts";
import { objectFacts } from "../../scenarios/play/object-facts.ts";
import { unplayable } from "../../scenarios/play/unplayable.ts";
import type { PrintFormat } from "../../reports/format/names.ts";
import { printBills } from "../../scenarios/print.ts";
import { readScenario, ScenarioError } from "../../scenarios/read.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { CommandError, orWrongUse, type CommandContext } from "../context.ts";
import { cacheFolder } from "../scenario/cache-folder.ts";
import { withScenarioRunner } from "../scenario/run.ts";

/** The options of `gpu-ledger scenario`. */
export interface ScenariosOptions {
  readonly by: string;
  readonly format: PrintFormat;
}

/** Plays scenarios and prints their bills. Fails with a `CommandError` if a file is wrong or an expectation does not hold. */
export async function runScenarios(
  files: readonly string[],
  { format, ...options }: ScenariosOptions,
  context: CommandContext,
): Promise<void> {
  const { by } = orWrongUse("--by", readDimensions(options.by));
  const isOneOfMany = files.length > 1;
  if (isOneOfMany && format === "csv") throw new CommandError("--format csv: a table can have only one scenario", 2);
  // All files are read before the first is played, so that a mistake in the last one is found at once.
  const scenarios = readAll(files);
  const failures: string[] = [];
  await withScenarioRunner(async (runner) => {
    for (const { file, scenario } of scenarios) {
      try {
        const bills = await runner.play(scenario, (_, made) => Promise.resolve(made));
        const heading = isOneOfMany ? { file } : {};
        context.stdout.write(`${printBills(bills, { ...scenario, ...heading, by, format }).trimEnd()}\n`);
        const wrong = differences(scenario, bills);
        for (const line of [...remarksOf(scenario), ...wrong]) context.stderr.write(`${line}\n`);
        if (wrong.length > 0)
          failures.push(`${file}: ${wrong.length} expectation${wrong.length === 1 ? " does" : "s do"} not hold`);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        failures.push(`${file}: ${error.message}`);
      }
    }
  }, cacheFolder(context.env));
  if (failures.length > 0) throw new CommandError(failures.join("\n"));
}

/** Returns the remarks about the objects in a scenario's files, one in each line. */
function remarksOf({ files, period }: Scenario): readonly string[] {
  if (files === undefined) return [];
  return objectFacts(files, period.start).remarks.map(
    ({ object, remark }) => `${nameOfObject(object)}: ${remark.text}`,
  );
}

/** Reads all files. Fails with the errors of all of them. */
function readAll(files: readonly string[]): readonly { readonly file: string; readonly scenario: Scenario }[] {
  const scenarios: { file: string; scenario: Scenario }[] = [];
  const problems: string[] = [];
  for (const file of files) {
    try {
      scenarios.push({ file, scenario: scenarioOf(file) });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new CommandError(problems.join("\n"), 2);
  return scenarios;
}

function scenarioOf(file: string): Scenario {
  const read = readWithin(file);
  if ("why" in read) throw new CommandError(`${file} ${read.why}`, 2);
  try {
    const scenario = readScenario(read.bytes.toString("utf8"), file);
    const problems = unplayable(scenario);
    if (problems.length === 0) return scenario;
    throw new CommandError([`${file} cannot be played:`, ...problems.map(describeProblem)].join("\n"), 2);
  } catch (error) {
    if (error instanceof ScenarioError) throw new CommandError(error.message, 2);
    throw error;
  }
}
