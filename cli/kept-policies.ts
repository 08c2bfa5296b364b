import type { Ledger } from "../runtime/config/ledger.ts";
import { CommandError } from "./context.ts";

/**
 * The policies that `--policy` names, of which charges are kept; the billing one where none is named. Fails with a sentence about
 * one that is not.
 */
export function keptPolicies(
  { policies }: Pick<Ledger, "policies">,
  names: readonly string[],
): readonly [string, ...string[]] {
  const kept = policies.filter(({ keep }) => keep).map(({ name }) => name);
  const other = names.find((name) => !kept.includes(name));
  if (other !== undefined)
    throw new CommandError(`--policy ${other}: one whose charges are kept: ${kept.join(", ")}`, 2);
  const [first, ...others] = names;
  return first === undefined ? [policies[0].name] : [first, ...others];
}
