import { rational, roundedDecimal } from "../exact/rational.ts";
import { LAST_UNIT_DIGITS, LAST_UNITS_IN_ONE } from "../exact/units.ts";

/** The sums of some lines of services. Costs are in last units. */
export interface ServingSums {
  readonly cost: bigint;
  readonly prefillCost: bigint;
  readonly decodeCost: bigint;
  readonly inferenceCost: bigint;
  readonly gpuHours: bigint;
  readonly computedTokens: bigint;
  readonly generatedTokens: bigint;
  readonly requests: bigint;
  readonly inferences: bigint;
}

/**
 * Costs of units, as exact decimals rounded to 9 digits. A cost is null if there was nothing to divide by. `loaded` has the whole cost, with
 * idle, starting and unmeasured time; `busy` has only the time of work. Cached tokens are not counted, because they cost nothing.
 */
export interface UnitCosts {
  /** Per million computed and generated tokens. */
  readonly millionTokens: { readonly loaded: string | null; readonly busy: string | null };
  /** The cost of prefill per million computed prompt tokens. */
  readonly millionPromptTokens: string | null;
  /** The cost of decode per million generated tokens. */
  readonly millionGeneratedTokens: string | null;
  /** The whole cost per thousand requests. */
  readonly thousandRequests: string | null;
  /** The whole cost per thousand inferences. */
  readonly thousandInferences: string | null;
  readonly gpuHour: string | null;
}

const MILLION = 1_000_000n;
const THOUSAND = 1_000n;

/** Returns the unit costs of sums. */
export function unitCosts(sums: ServingSums): UnitCosts {
  const { cost, prefillCost, decodeCost, inferenceCost, computedTokens, generatedTokens } = sums;
  const tokens = computedTokens + generatedTokens;
  return {
    millionTokens: {
      loaded: per(cost, tokens, MILLION),
      busy: per(prefillCost + decodeCost + inferenceCost, tokens, MILLION),
    },
    millionPromptTokens: per(prefillCost, computedTokens, MILLION),
    millionGeneratedTokens: per(decodeCost, generatedTokens, MILLION),
    thousandRequests: per(cost, sums.requests, THOUSAND),
    thousandInferences: per(cost, sums.inferences, THOUSAND),
    gpuHour: per(cost * LAST_UNITS_IN_ONE, sums.gpuHours, 1n),
  };
}

/** Returns last units ÷ count × unit as a decimal of whole currency; null if there is nothing to divide by. */
function per(lastUnits: bigint, count: bigint, unit: bigint): string | null {
  return count <= 0n ? null : roundedDecimal(rational(lastUnits * unit, count * LAST_UNITS_IN_ONE), LAST_UNIT_DIGITS);
}
