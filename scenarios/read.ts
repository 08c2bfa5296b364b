import { describeProblem, readYaml, type FileProblem } from "../runtime/config/yaml.ts";
import { scenarioSchema, type Scenario } from "./schema.ts";

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

/** Reads a scenario from its YAML text. Fails with {@link ScenarioError}, which names each key and its line. */
export function readScenario(text: string, source: string): Scenario {
  const read = readYaml(text, scenarioSchema, { unknownKey: "no such key; see docs/scenarios.md" });
  if ("problems" in read) throw new ScenarioError(source, read.problems);
  return read.value;
}
