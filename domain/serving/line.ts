import type { Charge } from "../charge/charge.ts";
import type { Money } from "../exact/units.ts";
import type { Dimension } from "../owner/owner.ts";
import type { ServiceName } from "./service.ts";
import type { Phase } from "./split-rule.ts";

/** The amounts of a charge that are split, in last units, energy in millijoules. */
const SERVING_AMOUNTS = ["gpuHours", "list", "contracted", "effective", "power", "millijoules", "carbon"] as const;

/** Sums of charges. An amount is undefined if no charge has it. */
export type ServingAmounts = Readonly<Record<(typeof SERVING_AMOUNTS)[number], bigint | undefined>>;

/** The dimensions of a service's charges that its lines keep. */
export type ServingPayer = Pick<Charge, "payer" | "gpuModel" | Dimension>;

/**
 * The counts of a line, beside its amounts. They are whole numbers. `spendNanos` is the price that a gateway has charged, in 10^-9 of its
 * currency.
 */
export const SERVING_COUNTS = [
  "computedTokens",
  "cachedTokens",
  "generatedTokens",
  "requests",
  "inferences",
  "excessTokens",
  "spendNanos",
] as const;

/** The counts of a line. Each token and request of a service is counted in one line. */
export type ServingCounts = Readonly<Record<(typeof SERVING_COUNTS)[number], number>>;

/** Counts of nothing. */
export const NO_COUNTS: ServingCounts = {
  computedTokens: 0,
  cachedTokens: 0,
  generatedTokens: 0,
  requests: 0,
  inferences: 0,
  excessTokens: 0,
  spendNanos: 0,
};

/** A part of what a service cost in an hour: a phase of a model, for a tenant. */
export interface ServingLine extends ServiceName, ServingPayer {
  readonly model: string;
  readonly adapter: string;
  /** Empty without a gateway, and for time without work. */
  readonly tenant: string;
  readonly phase: Phase;
  /** The bases of the split, for example `gpu-time`; several if the replicas have different pages. */
  readonly basis: string;
  readonly amounts: ServingAmounts;
  readonly counts: ServingCounts;
  /** The effective cost that cached prompt tokens would have added at the cost of a computed one, in last units. */
  readonly saved: Money;
}

/** A charge of a service's pod. */
export interface ServiceCharge {
  /** The pod's UID. */
  readonly pod: string;
  /** True for time before the pod served. */
  readonly isStarting: boolean;
  readonly payer: ServingPayer;
  readonly amounts: ServingAmounts;
}

/** Returns the sum of two amounts. */
export function addAmounts(a: ServingAmounts, b: ServingAmounts): ServingAmounts {
  return mapAmounts((name) => {
    const [one, other] = [a[name], b[name]];
    return one === undefined ? other : other === undefined ? one : one + other;
  });
}

/** Returns amounts made by a function of their names. */
export function mapAmounts(amountOf: (name: (typeof SERVING_AMOUNTS)[number]) => bigint | undefined): ServingAmounts {
  return Object.fromEntries(SERVING_AMOUNTS.map((name) => [name, amountOf(name)])) as unknown as ServingAmounts;
}

/** Amounts of nothing. */
export const NO_AMOUNTS: ServingAmounts = mapAmounts(() => undefined);

/** Returns whether all amounts and counts are 0. */
export function isEmpty({ amounts, counts }: Pick<ServingLine, "amounts" | "counts">): boolean {
  return (
    SERVING_AMOUNTS.every((name) => (amounts[name] ?? 0n) === 0n) && SERVING_COUNTS.every((name) => counts[name] === 0)
  );
}
