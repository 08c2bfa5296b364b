import { describeProblem, type FileProblem } from "./file-problem.ts";

/** All problems of a configuration at once. */
export class ConfigError extends Error {
  readonly code = "invalid-configuration";
  readonly source: string;
  readonly problems: readonly FileProblem[];

  constructor(source: string, problems: readonly FileProblem[]) {
    super([`${source} is not a valid configuration:`, ...problems.map(describeProblem)].join("\n"));
    this.name = "ConfigError";
    this.source = source;
    this.problems = problems;
  }
}
