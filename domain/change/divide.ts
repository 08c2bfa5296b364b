import { difference, exactly, lastUnits, roundToLastUnit, sum, type GpuHours, type Money } from "../exact/units.ts";
import { groupedBy } from "../grouped.ts";
import { add, divide, multiply, rational, subtract, type Rational } from "../exact/rational.ts";

/** The charges of a span that are equal in their owner, holder, price, GPU model and state. */
export interface ChangeCell {
  readonly team: string;
  /** The workload with its cluster and namespace; empty for GPUs that nobody held. */
  readonly holder: string;
  /** The entry of the price book. */
  readonly price: string;
  readonly model: string;
  readonly state: string;
  /** True if the charges correct charges of a closed period. */
  readonly isCorrection: boolean;
  readonly hours: GpuHours;
  readonly cost: Money;
}

/** The reasons for a difference between two spans. */
export type ChangeCause = (typeof CHANGE_CAUSES)[number];

/** The causes in the order of equal amounts. */
export const CHANGE_CAUSES = [
  "hours",
  "price",
  "mix",
  "new",
  "gone",
  "moved-in",
  "moved-out",
  "correction",
  "other",
] as const;

/** A part of the difference between two spans. */
export interface ChangeTerm {
  readonly team: string;
  readonly holder: string;
  readonly cause: ChangeCause;
  /** The cost of the second span less that of the first, as far as this cause has changed it. */
  readonly cost: Money;
}

/** The holders that have charges under other owners in each span. They are no part of the question. */
export interface HoldersElsewhere {
  readonly before: ReadonlySet<string>;
  readonly after: ReadonlySet<string>;
}

/** The sums of a cell, or of a holder, in both spans. */
interface Sums {
  hours0: GpuHours;
  hours1: GpuHours;
  cost0: Money;
  cost1: Money;
}

const HALF = rational(1n, 2n);
const NONE = lastUnits<"currency">(0n);

/**
 * Divides the difference between the costs of two spans by its causes. The terms sum exactly to the difference, and the terms of the exchanged
 * spans are their opposites.
 *
 * A cell with GPU-hours q and the price p = cost ÷ q is divided by Bennet's form: ½(p₀+p₁)·(q₁−q₀) is the hours' part, ½(q₀+q₁)·(p₁−p₀) the
 * price's part (T. L. Bennet, "The theory of measurement of changes in cost of living", 1920; for two factors it is their Shapley value). A
 * holder's hours as a whole, at the mean of its average prices, are `hours`; what its cells' parts differ from that is `mix`: other models,
 * states or entries of the price book. A holder without charges in one of the spans is `new` or `gone`, or has moved from or to another owner. Each part is rounded
 * once, and `mix` has what remains.
 */
export function divideChange(
  before: Iterable<ChangeCell>,
  after: Iterable<ChangeCell>,
  elsewhere: HoldersElsewhere = { before: new Set(), after: new Set() },
): readonly ChangeTerm[] {
  const owned = new Map<string, Owned>();
  const corrections = new Map<string, Owned>();
  const holders = { before: new Set(elsewhere.before), after: new Set(elsewhere.after) };
  for (const [side, cells] of [
    ["before", before],
    ["after", after],
  ] as const)
    for (const cell of cells) {
      if (!cell.isCorrection && cell.holder !== "") holders[side].add(cell.holder);
      addCell(cell.isCorrection ? corrections : owned, cell, side);
    }
  const terms = [...owned.values()].flatMap((each) => termsOf(each, holders));
  const corrected = [...corrections.values()].map(({ team, holder, cells }): ChangeTerm => {
    const { cost0, cost1 } = total(cells.values());
    return { team, holder, cause: "correction", cost: difference(cost1, cost0) };
  });
  return [...terms, ...corrected].filter(({ cost }) => cost !== 0n).toSorted(compare);
}

/** The cells of a holder under one owner. */
interface Owned {
  readonly team: string;
  readonly holder: string;
  readonly cells: Map<string, CellSums>;
}

/** The sums of a cell, with its model and state. */
interface CellSums extends Sums {
  readonly kind: string;
}

function addCell(
  owned: Map<string, Owned>,
  { team, holder, price, model, state, hours, cost }: ChangeCell,
  side: "before" | "after",
): void {
  const key = `${team}\n${holder}`;
  const of: Owned = owned.get(key) ?? { team, holder, cells: new Map() };
  owned.set(key, of);
  const name = JSON.stringify([price, model, state]);
  const sums = of.cells.get(name) ?? { ...noSums(), kind: JSON.stringify([model, state]) };
  of.cells.set(name, sums);
  if (side === "before") {
    sums.hours0 = sum([sums.hours0, hours]);
    sums.cost0 = sum([sums.cost0, cost]);
  } else {
    sums.hours1 = sum([sums.hours1, hours]);
    sums.cost1 = sum([sums.cost1, cost]);
  }
}

function termsOf({ team, holder, cells }: Owned, holders: HoldersElsewhere): readonly ChangeTerm[] {
  const term = (cause: ChangeCause, cost: Money): ChangeTerm => ({ team, holder, cause, cost });
  const all = [...cells.values()];
  const whole = total(all);
  const change = difference(whole.cost1, whole.cost0);
  const isIn0 = all.some(({ hours0, cost0 }) => hours0 !== 0n || cost0 !== 0n);
  const isIn1 = all.some(({ hours1, cost1 }) => hours1 !== 0n || cost1 !== 0n);
  if (!isIn0) return [term(holder !== "" && holders.before.has(holder) ? "moved-in" : "new", change)];
  if (!isIn1) return [term(holder !== "" && holders.after.has(holder) ? "moved-out" : "gone", change)];
  const timed = succeeded(all.filter(isTimed));
  const { hours0, hours1, cost0, cost1 } = total(timed);
  const ofTime = difference(cost1, cost0);
  const other = term("other", difference(change, ofTime));
  if (hours0 === 0n || hours1 === 0n) return [term("hours", ofTime), other];
  const hours = roundToLastUnit<"currency">(ofHours(total(timed)));
  const price = roundToLastUnit<"currency">(
    timed
      .filter((cell) => cell.hours0 !== 0n && cell.hours1 !== 0n)
      .map(ofPrice)
      .reduce(add, rational(0n)),
  );
  return [term("hours", hours), term("price", price), term("mix", difference(ofTime, sum([hours, price]))), other];
}

/**
 * Returns cells in which an entry of the price book and its successor are one cell: what a model has in a state under entries of only one span each. A new
 * price is often a new entry.
 */
function succeeded(cells: readonly CellSums[]): readonly Sums[] {
  const isInBoth = ({ hours0, hours1 }: Sums): boolean => hours0 !== 0n && hours1 !== 0n;
  const others = groupedBy(
    cells.filter((cell) => !isInBoth(cell)),
    ({ kind }) => kind,
  );
  return [...cells.filter(isInBoth), ...[...others.values()].map(total)];
}

/** Returns whether all costs of a cell are of GPU-hours. */
function isTimed({ hours0, hours1, cost0, cost1 }: Sums): boolean {
  return (hours0 !== 0n || cost0 === 0n) && (hours1 !== 0n || cost1 === 0n);
}

/** ½(p₀+p₁)·(q₁−q₀) */
function ofHours({ hours0, hours1, cost0, cost1 }: Sums): Rational {
  const [q0, q1] = [exactly(hours0), exactly(hours1)];
  const prices = add(divide(exactly(cost0), q0), divide(exactly(cost1), q1));
  return multiply(multiply(HALF, prices), subtract(q1, q0));
}

/** ½(q₀+q₁)·(p₁−p₀) */
function ofPrice({ hours0, hours1, cost0, cost1 }: Sums): Rational {
  const [q0, q1] = [exactly(hours0), exactly(hours1)];
  const prices = subtract(divide(exactly(cost1), q1), divide(exactly(cost0), q0));
  return multiply(multiply(HALF, add(q0, q1)), prices);
}

function noSums(): Sums {
  const none = lastUnits<"gpu-hour">(0n);
  return { hours0: none, hours1: none, cost0: NONE, cost1: NONE };
}

function total(cells: Iterable<Sums>): Sums {
  const all = noSums();
  for (const { hours0, hours1, cost0, cost1 } of cells) {
    all.hours0 = sum([all.hours0, hours0]);
    all.hours1 = sum([all.hours1, hours1]);
    all.cost0 = sum([all.cost0, cost0]);
    all.cost1 = sum([all.cost1, cost1]);
  }
  return all;
}

/** Compares two amounts: the larger one is first, whatever their signs. */
export function compareAmounts(one: Money, other: Money): number {
  const magnitude = (cost: bigint): bigint => (cost < 0n ? -cost : cost);
  const [a, b] = [magnitude(one), magnitude(other)];
  return a === b ? 0 : a > b ? -1 : 1;
}

function compare(one: ChangeTerm, other: ChangeTerm): number {
  const byAmount = compareAmounts(one.cost, other.cost);
  if (byAmount !== 0) return byAmount;
  const keyOf = ({ team, holder, cause }: ChangeTerm): string => `${team}\n${holder}\n${CHANGE_CAUSES.indexOf(cause)}`;
  return keyOf(one) < keyOf(other) ? -1 : 1;
}
