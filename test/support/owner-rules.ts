import { compileOwners, type OwnerRules } from "../../domain/owner/compile.ts";
import type { OwnerConfig } from "../../domain/owner/rule.ts";

/** The rules of a configuration with the given fields, and defaults for the others. Fails with all problems of the rules. */
export function ownerRules(
  owners: Partial<OwnerConfig["owners"]>,
  others: Omit<OwnerConfig, "owners"> = {},
): OwnerRules {
  const all = { team: [], costCenter: [], project: [], environment: [], ...owners };
  const compiled = compileOwners({ owners: all, ...others });
  if ("rules" in compiled) return compiled.rules;
  throw new Error(compiled.problems.map(({ path, allowed }) => `${path.join(".")}: ${allowed}`).join("\n"));
}
