import { readScenario, ScenarioError } from "../../scenarios/read.ts";

/** The problems of a scenario's text, a line for each; empty where there are none. */
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
