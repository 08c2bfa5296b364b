import type { Rational } from "../exact/rational.ts";

/** What energy is multiplied by, exact. */
export interface EnergyFactors {
  /** Power usage effectiveness of the site: 1 or more. */
  readonly pue: Rational;
  /** Grams of CO₂e per kWh, each value from its date on (milliseconds since the epoch); by time. */
  readonly gramsPerKWh: readonly { readonly fromMillis: number; readonly grams: Rational }[];
}
