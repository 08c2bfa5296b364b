import { chargeBeside, effectively, isTeams, type Charge } from "../../../domain/charge/charge.ts";
import { PLATFORM } from "../../../domain/owner/owner.ts";
import { divide, multiply, rational } from "../../../domain/exact/rational.ts";
import { difference, exactly, lastUnits, roundToLastUnit, sum, type Money } from "../../../domain/exact/units.ts";
import type { Markup } from "../../../domain/price/book.ts";
import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";

/**
 * Returns markups and discounts on the effective cost that teams pay in one hour of one cluster, after spreading. Each team and cost center
 * gets a separate line, and the platform gets the opposite line, so that sums stay the same (docs/prices.md).
 */
export function markupCharges(charges: readonly Charge[], markups: readonly Markup[]): readonly Charge[] {
  return markups.flatMap(({ team, percent }, index) => {
    const byCostCenter = new Map<string, Charge[]>();
    for (const charge of charges) {
      if (charge.team !== team || !isTeams(charge)) continue;
      byCostCenter.set(charge.costCenter, [...(byCostCenter.get(charge.costCenter) ?? []), charge]);
    }
    return [...byCostCenter].flatMap(([costCenter, ofTeam]) => {
      const cost = sum(ofTeam.flatMap(({ costs }) => costs?.effective ?? []));
      const amount = roundToLastUnit<"currency">(multiply(exactly(cost), divide(percent, rational(100))));
      if (amount === 0n) return [];
      const price = `markup[${index}]`;
      return [
        markupCharge(ofTeam[0]!, { team, costCenter, amount, price }),
        markupCharge(ofTeam[0]!, { team: PLATFORM, costCenter: "", amount: difference(lastUnits(0n), amount), price }),
      ];
    });
  });
}

function markupCharge(
  { cluster, fromMillis }: Charge,
  of: { readonly team: string; readonly costCenter: string; readonly amount: Money; readonly price: string },
): Charge {
  const { team, costCenter, amount, price } = of;
  const hour = hourOf(fromMillis);
  return chargeBeside(
    {
      fromMillis: hour,
      untilMillis: hour + HOUR_MILLIS,
      cluster,
      state: "markup",
      payer: team === PLATFORM ? "platform" : "holder",
      team,
      costCenter,
      costs: effectively(amount),
    },
    { price },
  );
}
