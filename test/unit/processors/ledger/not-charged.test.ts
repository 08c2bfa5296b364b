import { expect, it } from "vitest";
import { notCharged } from "../../../../processors/ledger/charge/not-charged.ts";
import { readScenario } from "../../../../scenarios/read.ts";
import { rulesOf } from "../../../../scenarios/rules.ts";

it("what charges do not have is named by its place: commitments, fixed costs, power, the basis max", () => {
  const { book, policies } = rulesOf(
    readScenario(
      `title: what is missing
period: { start: 2026-03-01T00:00:00Z, end: 2026-03-02T00:00:00Z }
prices:
  - { match: {}, from: 2026-01-01, per: gpu-hour, effective: "1.00" }
  - { match: { pool: own }, from: 2026-01-01, owned: { inService: 2026-01-01, purchase: "10", months: 36, kWhPrice: "0.3" } }
fixed: [{ from: 2026-01-01, amount: "5", per: month, scope: {} }]
policies: [{ name: larger, basis: max }]`,
      "missing",
    ),
  );
  expect(notCharged(book, policies)).toEqual([
    "fixed[0]: what no usage takes up is not charged yet",
    "prices[1]: power is not charged yet",
    "the policy larger: it counts as basis allocation, as max is not charged yet",
  ]);
});
