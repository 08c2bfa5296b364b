import type { Rational } from "../exact/rational.ts";

/** The exact factors for energy. */
export interface EnergyFactors {
  /** Power usage effectiveness of the site: 1 or more. */
  readonly pue: Rational;
  /** Grams of CO₂e per kWh, sorted by time. Each value holds from its date on (milliseconds since the epoch). */
  readonly gramsPerKWh: readonly { readonly fromMillis: number; readonly grams: Rational }[];
}
