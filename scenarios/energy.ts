import { kWhOf } from "../domain/energy/carbon.ts";
import { multiply, ONE } from "../domain/exact/rational.ts";
import { roundToLastUnit, type Amount } from "../domain/exact/units.ts";
import { factorsOf } from "../runtime/config/energy.ts";
import type { Scenario } from "./files.ts";

/**
 * Returns the kWh of millijoules at the GPU with the overhead of the site (× PUE), rounded half to even to the last unit. The PUE is 1 if a
 * scenario has no energy settings.
 */
export function siteKWh(millijoules: bigint, energy: Scenario["energy"]): Amount<"kilowatt-hour"> {
  return roundToLastUnit(multiply(kWhOf(millijoules), energy === undefined ? ONE : factorsOf(energy).pue));
}
