import { readScenario, ScenarioError } from "../../scenarios/read.ts";

/** What is wrong with a scenario's text, a line for each problem; empty where nothing is. */
export function problemsOf(text: string): readonly string[] {
  try {
    readScenario(text, "case.yaml");
    return [];
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const [, ...problems] = error.message.split("\n");
    return problems.map((line) => line.trim());
  }
}
