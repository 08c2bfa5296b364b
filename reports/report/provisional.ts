import type { Policy } from "../../domain/policy/policy.ts";

/**
 * Returns a sentence that names the policies with provisional charges, those that spread over more than an hour; undefined if there are
 * none (docs/policies.md).
 */
export function provisionalSentence(policies: readonly Policy[]): string | undefined {
  const names = policies.filter(isProvisional).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const who = `the ${names.length === 1 ? "policy" : "policies"} ${names.join(" and ")}`;
  return `Provisional: ${who} will spread some costs over a day or the billing period. Until this time is over and the period is closed, the owner of the node pool pays these costs, or else the platform.`;
}

function isProvisional({ payers, spread }: Policy): boolean {
  return spread.window !== "hour" && Object.values(payers).includes("spread");
}
