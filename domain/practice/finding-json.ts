import { formatAmount } from "../exact/units.ts";
import type { Finding } from "./check.ts";
import { whyAddress } from "./page.ts";

/** Returns a finding as JSON, with amounts as decimal texts. */
export function findingJson({ check, cost, objects, team, ...rest }: Finding): object {
  return {
    check,
    ...rest,
    team: team ?? null,
    cost: formatAmount(cost),
    objects: objects.map((object) => ({ ...object, cost: formatAmount(object.cost) })),
    why: whyAddress(check),
  };
}
