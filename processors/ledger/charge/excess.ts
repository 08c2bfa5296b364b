import {
  add,
  compare,
  divide,
  multiply,
  rational,
  smaller,
  subtract,
  ZERO,
  type Rational,
} from "../../../domain/exact/rational.ts";
import { split } from "../../../domain/exact/split.ts";
import type { Amount, Quantity } from "../../../domain/exact/units.ts";
import { partIdOf, type ShareMeasures } from "../../../domain/share/claim.ts";
import { cutGpu } from "../../../domain/share/cut.ts";
import type { SlotLine } from "./charge-slot.ts";

/** The use of a GPU by a holder's processes beyond its share, over an hour, with one of its lines to identify the holder. */
interface Excess {
  readonly of: SlotLine & { readonly claim: number };
  /** GPU-milliseconds, above 0. */
  readonly millis: Rational;
}

const PPM = rational(1_000_000);

/**
 * Returns the lines of one GPU over one hour with the basis `max` (docs/policies.md). If processes are reported separately, a holder that
 * used more than it held also pays for the excess, in state active. Excesses share the unheld part of the GPU in that hour in proportion,
 * and stop there. Shares of other holders are never touched, and sums stay the same.
 */
export function withExcess(lines: readonly SlotLine[], measures: Pick<ShareMeasures, "migShare">): readonly SlotLine[] {
  const excesses = excessesOf(lines, measures);
  const wanted = sumOf(excesses.map(({ millis }) => millis));
  const free = sumOf(lines.filter(isUnallocated).map(({ shareMillis }) => shareMillis));
  if (compare(wanted, ZERO) === 0 || compare(free, ZERO) === 0) return lines;
  const taken = smaller(free, wanted);
  const weights = [...excesses.map(({ millis }) => divide(multiply(millis, taken), wanted)), subtract(free, taken)];
  return lines.flatMap((line) => {
    if (!isUnallocated(line)) return [line];
    return splitLine(line, weights, free).flatMap((part, index): readonly SlotLine[] => {
      if (compare(part.shareMillis, ZERO) === 0) return [];
      const excess = excesses[index];
      if (excess === undefined) return [part];
      const { segment, claim } = excess.of;
      return [{ ...part, segment, claim, state: "active" }];
    });
  });
}

function isUnallocated({ claim, state }: SlotLine): boolean {
  return claim === undefined && state === "unallocated";
}

/** Returns the excess of each holder, in the order of its first line. */
function excessesOf(lines: readonly SlotLine[], measures: Pick<ShareMeasures, "migShare">): readonly Excess[] {
  const holders = new Map<string, { of: Excess["of"]; millis: Rational }>();
  const seen = new Set<string>();
  for (const line of lines) {
    const { claim } = line;
    if (claim === undefined) continue;
    const { hour } = line.segment;
    const { holder } = hour.segment.claims[claim]!.claim;
    const key = `${hour.segment.fromMillis} ${claim}`;
    // A segment that a price cuts has lines for each part, but its use counts once.
    if (seen.has(key)) continue;
    seen.add(key);
    const known = holders.get(holder);
    const millis = add(known?.millis ?? ZERO, beyondRequest({ ...line, claim }, measures));
    holders.set(holder, { of: known?.of ?? { ...line, claim }, millis });
  }
  return [...holders.values()].filter(({ millis }) => compare(millis, ZERO) > 0);
}

/** Returns a holder's use of a segment minus its share. Time without an observation counts as used. 0 if processes are not reported. */
function beyondRequest(
  { segment: { hour, whole }, claim }: Excess["of"],
  { migShare }: Pick<ShareMeasures, "migShare">,
): Rational {
  const { claim: of, measured } = hour.segment.claims[claim]!;
  if (measured.process === undefined) return ZERO;
  const { states } = whole.held[claim]!;
  const part = cutGpu(hour.segment.gpu, migShare).part(partIdOf(of.held))?.share ?? ZERO;
  const used = multiply(part, divide(rational(measured.process.atUsagePpmMillis), PPM));
  return subtract(add(used, states.unobserved), sumOf(Object.values(states)));
}

/** Divides a line by weights that sum to `whole`. Each amount is divided by largest remainder. */
function splitLine(line: SlotLine, weights: readonly Rational[], whole: Rational): readonly SlotLine[] {
  const divided = <Of extends Quantity>(amount: Amount<Of>): readonly Amount<Of>[] => split(amount, weights)!;
  const hours = divided(line.gpuHours);
  const costs = line.costs && {
    list: divided(line.costs.list),
    contracted: divided(line.costs.contracted),
    effective: divided(line.costs.effective),
  };
  const power = line.power && divided(line.power);
  const millijoules = line.millijoules === undefined ? undefined : split(line.millijoules, weights)!;
  const carbon = line.carbon && divided(line.carbon);
  return weights.map((weight, index): SlotLine => ({
    ...line,
    shareMillis: divide(multiply(line.shareMillis, weight), whole),
    gpuHours: hours[index]!,
    costs: costs && {
      list: costs.list[index]!,
      contracted: costs.contracted[index]!,
      effective: costs.effective[index]!,
    },
    power: power?.[index],
    millijoules: millijoules?.[index],
    carbon: carbon?.[index],
  }));
}

function sumOf(values: readonly Rational[]): Rational {
  return values.reduce((sum, value) => add(sum, value), ZERO);
}
