import { describeProblem, type FileProblem } from "../runtime/config/file-problem.ts";
import { readYaml } from "../runtime/config/yaml.ts";
import { readScenarioFiles } from "./files.ts";
import { scenarioSchema } from "./schema.ts";
import type { Scenario } from "./files.ts";

/** Everything that is wrong with a scenario's file, at once. */
export class ScenarioError extends Error {
  readonly code = "invalid-scenario";
  readonly problems: readonly FileProblem[];

  constructor(source: string, problems: readonly FileProblem[]) {
    super([`${source} is not a valid scenario:`, ...problems.map(describeProblem)].join("\n"));
    this.name = "ScenarioError";
    this.problems = problems;
  }
}

/**
 * Reads a scenario from its YAML text, and the files that it names from the folder of `source`. Fails with {@link ScenarioError},
 * which names each key and its line.
 */
export function readScenario(text: string, source: string): Scenario {
  const read = readYaml(text, scenarioSchema, { keys: "see docs/scenarios.md" });
  if ("problems" in read) throw new ScenarioError(source, read.problems);
  const { objects, pages } = read.value;
  if (objects.length === 0 && pages.length === 0) return read.value;
  const beside = readScenarioFiles(read.value, source);
  if ("problems" in beside) throw new ScenarioError(source, beside.problems);
  return { ...read.value, files: beside.files };
}
