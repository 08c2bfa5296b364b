import { compileOwners } from "../domain/owner/compile.ts";
import { readBook } from "../domain/price/read.ts";
import type { ChargeRules } from "../processors/ledger/charging/charge-window.ts";
import { factorsOf } from "../runtime/config/energy.ts";
import { policiesOf } from "../runtime/config/policies.ts";
import { servingOf } from "../runtime/config/serving.ts";
import { sourceOf } from "./invoices.ts";
import type { Scenario } from "./files.ts";

/**
 * By what a scenario is charged: its book, its owners, all of its policies, and what energy emits. Throws a `TypeError` for a scenario that
 * its schema did not read.
 */
export function rulesOf(scenario: Scenario): ChargeRules {
  const {
    currency,
    prices = [],
    rates = [],
    markup = [],
    commitments = [],
    fixed = [],
    policies,
    energy,
    serving,
  } = scenario;
  const read = readBook({ currency, prices, rates, markup, commitments, fixed });
  const owners = compileOwners(scenario);
  if ("problems" in read || "problems" in owners) throw new TypeError("a scenario that was not read by its schema");
  return {
    book: read.book,
    owners: owners.rules,
    policies: policiesOf(policies),
    energy: energy === undefined ? undefined : factorsOf(energy),
    serving: servingOf(serving),
    invoices: scenario.invoices && [sourceOf(scenario.invoices)],
  };
}
