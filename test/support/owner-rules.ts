import { compileOwners, type OwnerRules } from "../../domain/owner/compile.ts";
import type { OwnerConfig } from "../../domain/owner/rule.ts";

/** The rules of a configuration of which only what matters is given; fails with all that is wrong with them. */
export function ownerRules(
  owners: Partial<OwnerConfig["owners"]>,
  others: Omit<OwnerConfig, "owners"> = {},
): OwnerRules {
  const all = { team: [], costCenter: [], project: [], environment: [], ...owners };
  const compiled = compileOwners({ owners: all, ...others });
  if ("rules" in compiled) return compiled.rules;
  throw new Error(compiled.problems.map(({ path, allowed }) => `${path.join(".")}: ${allowed}`).join("\n"));
}
