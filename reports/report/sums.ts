import type { ChargeState } from "../../domain/charge/charge.ts";
import { kWhOf } from "../../domain/energy/carbon.ts";
import { rational, roundedDecimal } from "../../domain/exact/rational.ts";
import { formatAmount, LAST_UNIT_DIGITS, lastUnits, type Quantity } from "../../domain/exact/units.ts";
import type { Measures } from "./report.ts";

const RATIO_DIGITS = 6;

/**
 * The sums of one group's lines that are equal in their state and in whether they are held, priced and corrections. Amounts are in last
 * units.
 */
export interface LineSums {
  readonly state: ChargeState;
  readonly isHeld: boolean;
  readonly isPriced: boolean;
  readonly isCorrection: boolean;
  readonly lines: number;
  readonly gpuHours: bigint;
  readonly list: bigint;
  readonly contracted: bigint;
  readonly effective: bigint;
  readonly power: bigint;
  /** Undefined if no line has a value. */
  readonly millijoules: bigint | undefined;
  readonly carbon: bigint | undefined;
}

/**
 * Returns the measures of sums of lines. Hours of corrections count as held if they are of the same time (in a showback), and not if they
 * are of another time (`ofOtherTimes`, in a chargeback).
 */
export function measuresOf(sums: readonly LineSums[], ofOtherTimes: boolean): Measures {
  const own = ofOtherTimes ? sums.filter(({ isCorrection }) => !isCorrection) : sums;
  const held = own.filter(({ isHeld, state }) => isHeld && state !== "unavailable");
  const active = held.filter(({ state }) => state === "active");
  const heldHours = total(held, "gpuHours");
  const unobserved = total(
    held.filter(({ state }) => state === "unobserved"),
    "gpuHours",
  );
  const cost = total(sums, "effective");
  const millijoules = totalOfKnown(sums, "millijoules");
  const carbon = totalOfKnown(sums, "carbon");
  return {
    gpuHours: text(total(sums, "gpuHours")),
    heldGpuHours: text(heldHours),
    activeGpuHours: text(total(active, "gpuHours")),
    list: text(total(sums, "list")),
    contracted: text(total(sums, "contracted")),
    cost: text(cost),
    power: text(total(sums, "power")),
    states: byState(sums, "effective"),
    stateGpuHours: byState(sums, "gpuHours"),
    corrections: text(
      total(
        sums.filter(({ isCorrection }) => isCorrection),
        "effective",
      ),
    ),
    unpricedGpuHours: text(
      total(
        sums.filter(({ isPriced }) => !isPriced),
        "gpuHours",
      ),
    ),
    coverage: quotient(heldHours - unobserved, heldHours, RATIO_DIGITS),
    costPerHeldGpuHour: quotient(cost, total(held.filter(isPriced), "gpuHours"), LAST_UNIT_DIGITS),
    costPerActiveGpuHour: quotient(cost, total(active.filter(isPriced), "gpuHours"), LAST_UNIT_DIGITS),
    kWh: millijoules === undefined ? null : roundedDecimal(kWhOf(millijoules), LAST_UNIT_DIGITS),
    carbonGrams: carbon === undefined ? null : text(carbon),
    lines: sums.reduce((count, { lines }) => count + lines, 0),
  };
}

/** Returns the effective cost of sums, in last units. */
export function costOf(sums: readonly LineSums[]): bigint {
  return total(sums, "effective");
}

/** Returns last units as decimal text. */
export function text(amount: bigint): string {
  return formatAmount(lastUnits<Quantity>(amount));
}

function isPriced(sums: LineSums): boolean {
  return sums.isPriced;
}

function total(sums: readonly LineSums[], of: "gpuHours" | "list" | "contracted" | "effective" | "power"): bigint {
  return sums.reduce((sum, one) => sum + one[of], 0n);
}

function totalOfKnown(sums: readonly LineSums[], of: "millijoules" | "carbon"): bigint | undefined {
  const known = sums.flatMap((one) => one[of] ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0n);
}

function byState(sums: readonly LineSums[], of: "effective" | "gpuHours"): Measures["states"] {
  const totals = new Map<ChargeState, bigint>();
  for (const { state, [of]: amount } of sums) totals.set(state, (totals.get(state) ?? 0n) + amount);
  const some = [...totals].filter(([, amount]) => amount !== 0n).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(some.map(([state, amount]) => [state, text(amount)]));
}

function quotient(amount: bigint, by: bigint, digits: number): string | null {
  return by <= 0n ? null : roundedDecimal(rational(amount, by), digits);
}
