import type { Charge } from "../../../domain/charge/charge.ts";
import { ADDED_DIMENSIONS, HOLDER_DIMENSIONS, MACHINE_DIMENSIONS } from "../../../domain/charge/dimension.ts";
import { ZERO } from "../../../domain/exact/rational.ts";
import { DIMENSIONS } from "../../../domain/owner/owner.ts";
import { amountsOf, COUNTED, isNothing, NOTHING, plus, withAmounts, type Amounts } from "./amounts.ts";
import type { Breach } from "./breach.ts";
import { sumText } from "./invariant.ts";
import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";

/**
 * Returns the corrections that turn booked lines into the recomputed ones: for each line key the difference, with 0 for an absent side
 * (docs/closing.md). A key is every dimension of a charge and its UTC hour, without amounts, times within the hour and trail. Whether a
 * line is priced is a dimension, so a quantity that gets its price leaves the unpriced ones. A correction covers the whole hour, and has
 * the trail of the recomputed line, or else of the booked one. Lines without a difference are left out. A dimension that no booked line
 * has, because an earlier release booked them, is not a difference. All charges are of one policy, and none waits to be spread.
 */
export function correctionsOf(recomputed: readonly Charge[], booked: readonly Charge[]): readonly Charge[] {
  const lines = new Map<string, { readonly like: Charge; amounts: Amounts }>();
  const count = (charge: Charge, sign: 1n | -1n): void => {
    const key = lineKey(charge);
    const line = lines.get(key) ?? { like: charge, amounts: NOTHING };
    line.amounts = plus(line.amounts, amountsOf(charge), sign);
    lines.set(key, line);
  };
  const unbooked = ADDED_DIMENSIONS.filter((name) => booked.length > 0 && booked.every((line) => line[name] === ""));
  const blank = Object.fromEntries(unbooked.map((name) => [name, ""]));
  for (const charge of recomputed) count(unbooked.length === 0 ? charge : { ...charge, ...blank }, 1n);
  for (const charge of booked) count(charge, -1n);
  return [...lines.values()].flatMap(({ like, amounts }) => (isNothing(amounts) ? [] : [correction(like, amounts)]));
}

/**
 * Checks that booked lines with their corrections equal the recomputed lines. For each GPU, and for costs of no GPU, the sums of the hour
 * must be equal (docs/closing.md: originals + corrections = recomputed cost). Returns each breach.
 */
export function correctionBreaches(
  policy: string,
  recomputed: readonly Charge[],
  booked: readonly Charge[],
): readonly Breach[] {
  const [wanted, got] = [sumsByGpu(recomputed), sumsByGpu(booked)];
  return [...new Set([...wanted.keys(), ...got.keys()])].flatMap((gpu) => {
    const [node, slot] = JSON.parse(gpu) as [string, string];
    const [expected, found] = [wanted.get(gpu) ?? NOTHING, got.get(gpu) ?? NOTHING];
    return COUNTED.flatMap(([what, name]) =>
      (expected[name] ?? 0n) === (found[name] ?? 0n)
        ? []
        : [{ policy, node, slot, what, expected: sumText(what, expected[name]), found: sumText(what, found[name]) }],
    );
  });
}

function correction(like: Charge, amounts: Amounts): Charge {
  const fromMillis = hourOf(like.fromMillis);
  return { ...withAmounts(like, amounts), fromMillis, untilMillis: fromMillis + HOUR_MILLIS };
}

const LINE_KEYS = [
  "cluster",
  "node",
  "slot",
  ...MACHINE_DIMENSIONS,
  "state",
  "because",
  "payer",
  ...DIMENSIONS,
] as const satisfies readonly (keyof Charge)[];

function lineKey(charge: Charge): string {
  const { holder, costs } = charge;
  const held =
    holder === undefined
      ? null
      : { ...holder, labels: Object.entries(holder.labels).toSorted(([a], [b]) => (a < b ? -1 : 1)) };
  return JSON.stringify([
    hourOf(charge.fromMillis),
    costs === undefined,
    LINE_KEYS.map((name) => charge[name] ?? null),
    held === null ? null : HELD.map((name) => held[name]),
  ]);
}

const HELD = [
  "id",
  ...HOLDER_DIMENSIONS,
  "labels",
  "attribution",
  "rawShare",
  "share",
] as const satisfies readonly (keyof NonNullable<Charge["holder"]>)[];

function sumsByGpu(charges: readonly Charge[]): ReadonlyMap<string, Amounts> {
  const sums = new Map<string, Amounts>();
  for (const charge of charges) {
    const gpu = JSON.stringify([charge.node, charge.slot === undefined ? "" : String(charge.slot)]);
    sums.set(gpu, plus(sums.get(gpu) ?? NOTHING, { ...amountsOf(charge), shareMillis: ZERO }, 1n));
  }
  return sums;
}
