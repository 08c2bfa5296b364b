import { scenarioShape } from "./shape.ts";
import { checkEnergy } from "../runtime/config/energy.ts";
import { checkOwners } from "../runtime/config/ledger.ts";
import { checkPolicies } from "../runtime/config/policies.ts";
import { bookIn, checkBook } from "../runtime/config/price-book.ts";
import { checkDelivered, checkFleet } from "./checks.ts";

/** A scenario's file. Prices, owners, policies and energy are written, and read, as in a configuration. */
export const scenarioSchema = scenarioShape.superRefine((scenario, context) => {
  const complain = (path: PropertyKey[], message: string): void => context.addIssue({ code: "custom", path, message });
  if (scenario.period.end <= scenario.period.start) complain(["period", "end"], "a time after period.start");
  checkFleet(scenario, (path, allowed) => complain([...path], allowed));
  const book = checkBook(bookIn(scenario), context);
  checkDelivered(scenario.nodes, book?.prices ?? [], (path, allowed) => complain([...path], allowed));
  for (const event of scenario.events) {
    const prices = "arrives" in event ? event.arrives.prices : undefined;
    if (prices !== undefined)
      checkBook(bookIn({ ...scenario, prices: [...(scenario.prices ?? []), ...prices] }), context);
  }
  checkOwners(scenario, context);
  checkPolicies(scenario.policies, context);
  checkEnergy(scenario.energy, context);
  const policies = new Set(scenario.policies.length === 0 ? ["default"] : scenario.policies.map((each) => each.name));
  for (const expected of Object.keys(scenario.expect))
    if (!policies.has(expected)) complain(["expect", expected], `one of the policies: ${[...policies].join(", ")}`);
});
