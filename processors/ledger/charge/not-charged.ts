import type { Policy } from "../../../domain/policy/policy.ts";
import type { PriceBook } from "../../../domain/price/book.ts";

/**
 * What a book or a policy asks for that charges do not have in this release, a sentence each: who relies on their sum must hear of
 * it (docs/prices.md, "What is not charged yet").
 */
export function notCharged(
  { prices, commitments, fixed }: Pick<PriceBook, "prices" | "commitments" | "fixed">,
  policies: readonly Pick<Policy, "name" | "basis">[],
): readonly string[] {
  const standing = [...commitments, ...fixed].map(({ place }) => `${place}: what no usage takes up is not charged yet`);
  const power = prices.flatMap((entry) =>
    entry.per === "owned" && entry.owned.power !== undefined ? [`${entry.place}: power is not charged yet`] : [],
  );
  const bases = policies.flatMap(({ name, basis }) =>
    basis === "max" ? [`the policy ${name}: it counts as basis allocation, as max is not charged yet`] : [],
  );
  return [...standing, ...power, ...bases];
}
