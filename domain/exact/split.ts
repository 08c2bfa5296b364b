import { gcd, LARGEST_SAFE } from "./integer.ts";
import type { Rational } from "./rational.ts";

/** The weight of a part, never negative: a safe integer (milliseconds, a count), a bigint or a fraction. All weights have the same unit. */
export type Weight = number | bigint | Rational;

/**
 * The largest sum of weights for the fast path. Its square is a safe integer, so the product of a weight and a rest below the sum is one
 * too.
 */
const LARGEST_QUICK_TOTAL = 94_906_265;

/** The most parts for which the largest remainders are picked one by one. For more parts a sort is faster. */
const MOST_PICKED = 16;

/**
 * Splits an amount over weights by largest remainder. Each part is its exact share rounded down. The units that are left go one each to the
 * largest remainders. Ties keep the given order, so the caller sorts by the ledger's order. The parts sum to the amount, each differs from
 * its exact share by less than one unit, and a part of weight 0 gets 0. A negative amount is split like its opposite. Undefined if all
 * weights sum to 0, whatever the amount. Throws a RangeError if a weight is negative or not a safe integer.
 */
export function split<Count extends bigint>(amount: Count, weights: readonly Weight[]): readonly Count[] | undefined {
  return createSplit(weights)?.(amount);
}

/** Returns a function that splits amounts over the same weights, like {@link split}. The preparation of the weights is shared. */
export function createSplit(
  weights: readonly Weight[],
): (<Count extends bigint>(amount: Count) => readonly Count[]) | undefined {
  const integers = integersOf(weights);
  if (integers.every((weight) => Number(weight) === 0)) return undefined;
  if (integers.length === 1) return (amount) => [amount];
  const quick = quickWeights(integers);
  let big: BigWeights | undefined;
  return <Count extends bigint>(amount: Count) => {
    const count: bigint = amount;
    const isNegative = count < 0n;
    const positive = isNegative ? -count : count;
    const parts =
      quick !== undefined && positive <= LARGEST_SAFE
        ? splitQuick(Number(positive), quick)
        : splitBig(positive, (big ??= bigWeights(integers)));
    return (isNegative ? parts.map((part) => -part) : parts) as unknown as readonly Count[];
  };
}

interface QuickWeights {
  readonly weights: readonly number[];
  readonly total: number;
}

interface BigWeights {
  readonly weights: readonly bigint[];
  readonly total: bigint;
}

/** Returns the integers as numbers with their sum; undefined if the sum is too large. */
function quickWeights(integers: readonly (number | bigint)[]): QuickWeights | undefined {
  const weights: number[] = [];
  let total = 0;
  for (const integer of integers) {
    const weight = Number(integer);
    total += weight;
    if (total > LARGEST_QUICK_TOTAL) return undefined;
    weights.push(weight);
  }
  return { weights, total };
}

function splitQuick(amount: number, { weights, total }: QuickWeights): readonly bigint[] {
  // amount = each × total + over. A share is each × weight + over × weight ÷ total; both products are safe integers.
  const over = amount % total;
  const each = (amount - over) / total;
  const [parts, rests]: [number[], number[]] = [[], []];
  let left = amount;
  for (const weight of weights) {
    const product = over * weight;
    const rest = product % total;
    const part = each * weight + (product - rest) / total;
    parts.push(part);
    rests.push(rest);
    left -= part;
  }
  for (const index of largest(rests, left)) parts[index] = at(parts, index) + 1;
  return parts.map(BigInt);
}

function bigWeights(integers: readonly (number | bigint)[]): BigWeights {
  const weights = integers.map(BigInt);
  let total = 0n;
  for (const weight of weights) total += weight;
  return { weights, total };
}

function splitBig(amount: bigint, { weights, total }: BigWeights): readonly bigint[] {
  const rests: bigint[] = [];
  let left = amount;
  const parts = weights.map((weight) => {
    const product = amount * weight;
    const part = product / total;
    rests.push(product - part * total);
    left -= part;
    return part;
  });
  for (const index of largest(rests, Number(left))) parts[index] = at(parts, index) + 1n;
  return parts;
}

/** Checks the weights and returns them as integers. If one is a fraction, all are scaled to the least common denominator. */
function integersOf(weights: readonly Weight[]): readonly (number | bigint)[] {
  let common = 0n;
  for (const weight of weights) {
    if (typeof weight !== "object") check(weight);
    else {
      check(weight.num);
      common = common === 0n ? weight.den : common * (weight.den / gcd(common, weight.den));
    }
  }
  if (common === 0n) return weights as readonly (number | bigint)[];
  return weights.map((weight) =>
    typeof weight === "object" ? weight.num * (common / weight.den) : BigInt(weight) * common,
  );
}

/** Returns the indexes of the `count` largest rests, none of which is negative. Of equal rests, the earlier one comes first. */
function largest(rests: (number | bigint)[], count: number): readonly number[] {
  if (count === 0) return [];
  if (rests.length > MOST_PICKED) {
    const order = rests.map((_, index) => index);
    order.sort((a, b) => (at(rests, a) < at(rests, b) ? 1 : at(rests, a) > at(rests, b) ? -1 : a - b));
    return order.slice(0, count);
  }
  const picked: number[] = [];
  while (picked.length < count) {
    let best = 0;
    for (let index = 1; index < rests.length; index++) if (at(rests, index) > at(rests, best)) best = index;
    rests[best] = -1;
    picked.push(best);
  }
  return picked;
}

function at<Of>(list: readonly Of[], index: number): Of {
  return list[index] as Of;
}

function check(weight: number | bigint): void {
  if (weight < 0) throw new RangeError(`a weight cannot be negative: ${weight}`);
  if (typeof weight === "number" && !Number.isSafeInteger(weight))
    throw new RangeError(`${weight} is not a safe integer`);
}
