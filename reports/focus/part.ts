import type { ChargeState } from "../../domain/charge/charge.ts";
import type { HOLDER_DIMENSIONS, MACHINE_DIMENSIONS } from "../../domain/charge/dimension.ts";
import type { Carbon, GpuHours, Money } from "../../domain/exact/units.ts";
import type { Dimension } from "../../domain/owner/owner.ts";
import type { Payer } from "../../domain/policy/policy.ts";

/**
 * What was split among payers: a GPU on a UTC day at one price, what a node costs beside its GPUs, or a cost of no node. In it is all
 * that FOCUS wants to be equal in the parts of an origin.
 */
export interface Origin extends Readonly<Record<(typeof MACHINE_DIMENSIONS)[number], string>> {
  /** The first moment of the month in which it is booked, milliseconds since the epoch. */
  readonly billingPeriod: number;
  readonly isCorrection: boolean;
  /** Milliseconds since the epoch, half-open. */
  readonly from: number;
  readonly until: number;
  readonly cluster: string;
  /** Empty for a cost of no node. */
  readonly node: string;
  /** The GPU's index; undefined for a cost of a whole node, or of none. */
  readonly slot: number | undefined;
  /** The name of the entry in the price book. */
  readonly price: string;
  /** Since when that entry prices the node without a break, milliseconds since the epoch; 0 where that is not known. */
  readonly pricedSince: number;
}

/** The lines of an origin that are alike in everything that a row says, added up: a row of the file. */
export interface Part extends Readonly<Record<(typeof HOLDER_DIMENSIONS)[number] | Dimension, string>> {
  readonly origin: Origin;
  /** Whether it is asked for, or only a part of an origin of which another one is. */
  readonly isAskedFor: boolean;
  readonly state: ChargeState;
  readonly because: string;
  readonly payer: Payer;
  /** Empty for what nobody held, and for what was spread. */
  readonly holder: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly attribution: string;
  readonly lines: number;
  readonly gpuHours: GpuHours;
  /** How long the lines last, one after the other. */
  readonly millis: number;
  readonly list: Money;
  readonly contracted: Money;
  readonly effective: Money;
  /** Undefined where the price has no power, nothing was measured, or nothing says what it emits. */
  readonly power: Money | undefined;
  readonly millijoules: bigint | undefined;
  readonly carbon: Carbon | undefined;
}
