import type { Policy } from "../../domain/policy/policy.ts";

/**
 * Returns a sentence that names the policies with provisional charges, those that spread over more than an hour; undefined if there are
 * none (docs/policies.md).
 */
export function provisionalSentence(policies: readonly Policy[]): string | undefined {
  const names = policies.filter(isProvisional).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const who = `the ${names.length === 1 ? "policy" : "policies"} ${names.join(" and ")}`;
  return `What ${who} will spread over a day or the billing period is provisionally charged to the owner of the node pool, else to the platform, until that time is over and the period is closed.`;
}

function isProvisional({ payers, spread }: Policy): boolean {
  return spread.window !== "hour" && Object.values(payers).includes("spread");
}
