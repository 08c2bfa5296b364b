import { formatAmount, type Money } from "../exact/units.ts";
import type { Finding } from "./check.ts";
import { whyAddress } from "./page.ts";

/** Returns a finding as JSON, with amounts as decimal texts. */
export function findingJson({ check, atStake, objects, team, ...rest }: Finding): object {
  return {
    check,
    ...rest,
    team: team ?? null,
    atStake: amountJson(atStake),
    objects: objects.map((object) => ({ ...object, atStake: amountJson(object.atStake) })),
    why: whyAddress(check),
  };
}

function amountJson(amount: Money | undefined): string | null {
  return amount === undefined ? null : formatAmount(amount);
}
