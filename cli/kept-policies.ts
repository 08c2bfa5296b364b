import type { Ledger } from "../runtime/config/ledger.ts";
import { CommandError } from "./context.ts";

/**
 * Returns the policies of `--policy` whose charges are kept; the billing policy if none is named. Fails with a sentence about a policy that
 * is not kept.
 */
export function keptPolicies(
  { policies }: Pick<Ledger, "policies">,
  names: readonly string[],
): readonly [string, ...string[]] {
  const kept = policies.filter(({ keep }) => keep).map(({ name }) => name);
  const other = names.find((name) => !kept.includes(name));
  if (other !== undefined)
    throw new CommandError(`--policy ${other}: must be a policy with kept charges: ${kept.join(", ")}`, 2);
  const [first, ...others] = names;
  return first === undefined ? [policies[0].name] : [first, ...others];
}
