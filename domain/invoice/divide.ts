import { multiply, rational, subtract, ZERO, type Rational } from "../exact/rational.ts";
import { createSplit, type Weight } from "../exact/split.ts";
import { roundToLastUnit, type Money } from "../exact/units.ts";
import type { CostKind } from "../price/book.ts";
import { perKind } from "../price/kinds.ts";
import { HOUR_MILLIS, hourOf } from "../time.ts";

/** The exact cost of a machine, or another cost, over a time. */
export interface SpanCost {
  /** Milliseconds since the epoch, half-open. */
  readonly from: number;
  readonly until: number;
  /** The hours of the machine that the cost is for; undefined if they are unknown, or if the cost is not of a machine. */
  readonly machineHours: Rational | undefined;
  readonly costs: Readonly<Record<CostKind, Rational>>;
}

/** The time of a node within one UTC hour. */
export interface NodeTime {
  readonly cluster: string;
  readonly node: string;
  /** The UID of the Node; empty without Kubernetes. */
  readonly uid: string;
  readonly from: number;
  readonly until: number;
}

/** A part of a cost. */
export interface CostPart {
  /** The start of its hour. */
  readonly hour: number;
  /** The node that was the machine in this time; undefined for time of the machine outside its nodes, and for a cost of no machine. */
  readonly node: NodeTime | undefined;
  /** Rounded, so that the parts of a cost sum to the rounded cost. */
  readonly costs: Readonly<Record<CostKind, Money>>;
}

const MILLIS_OF_HOUR = rational(HOUR_MILLIS);

/**
 * Divides a cost over time by largest remainder: over the times of the machine's nodes, and over the rest of the machine's time, which is in
 * the hours of the span in which the nodes have the least. A machine with unknown hours has only the time of its nodes. Without a node, the
 * whole cost is outside, even over its span. A node has a part even if it is 0.
 */
export function divideCost(cost: SpanCost, nodes: readonly NodeTime[]): readonly CostPart[] {
  const inside = nodes
    .map((node) => ({ ...node, from: Math.max(node.from, cost.from), until: Math.min(node.until, cost.until) }))
    .filter(({ from, until }) => from < until);
  const places = [
    ...inside.map((node) => ({ hour: hourOf(node.from), node, weight: node.until - node.from })),
    ...outside(cost, inside).map(({ hour, weight }) => ({ hour, node: undefined, weight })),
  ];
  const divide = createSplit(places.map(({ weight }): Weight => weight));
  if (divide === undefined) throw new RangeError("a cost without a time cannot be divided");
  const parts = perKind(cost.costs, (exact) => divide(roundToLastUnit<"currency">(exact)));
  return places
    .map(({ hour, node }, index): CostPart => ({ hour, node, costs: perKind(parts, (of) => of[index]!) }))
    .filter(({ node, costs }) => node !== undefined || Object.values(costs).some((amount) => amount !== 0n));
}

/** Returns the time of a machine outside its nodes, as weights of hours. */
function outside(
  { from, until, machineHours }: SpanCost,
  inside: readonly NodeTime[],
): readonly { readonly hour: number; readonly weight: Rational }[] {
  const covered = new Map<number, number>();
  for (const node of inside) {
    const hour = hourOf(node.from);
    covered.set(hour, (covered.get(hour) ?? 0) + node.until - node.from);
  }
  const known = rational([...covered.values()].reduce((sum, millis) => sum + millis, 0));
  const machineMillis = machineHours === undefined ? undefined : multiply(machineHours, MILLIS_OF_HOUR);
  const isWhole = inside.length === 0;
  const excess = isWhole ? rational(until - from) : machineMillis === undefined ? ZERO : subtract(machineMillis, known);
  if (excess.num <= 0n) return [];
  const hours: { readonly hour: number; readonly millis: number; readonly free: number }[] = [];
  for (let hour = hourOf(from); hour < until; hour += HOUR_MILLIS) {
    const millis = Math.min(until, hour + HOUR_MILLIS) - Math.max(from, hour);
    hours.push({ hour, millis, free: Math.max(0, millis - (covered.get(hour) ?? 0)) });
  }
  const isFree = hours.some(({ free }) => free > 0);
  const weights = hours.map(({ millis, free }) => (isFree ? free : millis));
  const all = rational(weights.reduce((sum, weight) => sum + weight, 0));
  return hours.flatMap(({ hour }, index) =>
    weights[index] === 0 ? [] : { hour, weight: rational(excess.num * BigInt(weights[index]!), excess.den * all.num) },
  );
}
