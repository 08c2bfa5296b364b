import type { ChargeState } from "../../domain/charge/charge.ts";
import type { HOLDER_DIMENSIONS, MachineDimension } from "../../domain/charge/dimension.ts";
import type { Carbon, GpuHours, Money } from "../../domain/exact/units.ts";
import type { Dimension } from "../../domain/owner/owner.ts";
import type { Payer } from "../../domain/policy/policy.ts";
import type { ServingCounts, ServingLine } from "../../domain/serving/line.ts";
import type { ServiceName } from "../../domain/serving/service.ts";
import type { SplitRule } from "../../domain/serving/split-rule.ts";

/**
 * A cost that is split among payers: a GPU on a UTC day at one price, a node's cost beside its GPUs, or a cost of no node; in a file of
 * services, an inference service on a UTC day on one model of GPU. It contains everything that FOCUS requires to be equal in the parts of
 * an origin.
 */
export interface Origin extends Readonly<Record<MachineDimension, string>> {
  /** The first moment of the month in which the origin is booked, milliseconds since the epoch. */
  readonly billingPeriod: number;
  readonly isCorrection: boolean;
  /** Milliseconds since the epoch, half-open. */
  readonly from: number;
  readonly until: number;
  readonly cluster: string;
  /** Undefined in a file of charges. */
  readonly service: Omit<ServiceName, "cluster"> | undefined;
  /** The model that the service served, if an origin is of one model: with the columns of 1.5. Empty for time without a model. */
  readonly model?: string;
  /** The meter of tokens that are counted by themselves, with the columns of 1.5. */
  readonly meter?: "Input Cache";
  /** Empty for a cost of no node, and for a service. */
  readonly node: string;
  /** The GPU's index; undefined for a cost of a whole node or of no node. */
  readonly slot: number | undefined;
  /** The name of the price entry. */
  readonly price: string;
  /** The time since when the entry prices the node without a gap, milliseconds since the epoch; 0 if unknown. */
  readonly pricedSince: number;
}

/** The work of an inference service that a part of its cost paid for. */
export interface ServedWork extends Pick<ServingLine, "model" | "adapter" | "tenant" | "phase" | "basis"> {
  readonly rule: SplitRule;
  readonly counts: ServingCounts;
  /** The cost that cached tokens would have added. */
  readonly saved: Money;
}

/** The sum of an origin's lines that are equal in every column of a row: one row of the file. */
export interface Part extends Readonly<Record<(typeof HOLDER_DIMENSIONS)[number] | Dimension, string>> {
  readonly origin: Origin;
  /** Undefined in a file of charges. */
  readonly work: ServedWork | undefined;
  /** True if the question asks for the part. Otherwise it only completes the origin of another part. */
  readonly isAskedFor: boolean;
  readonly state: ChargeState;
  readonly because: string;
  readonly payer: Payer;
  /** Empty for time without a holder, and for spread costs. */
  readonly holder: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly attribution: string;
  readonly lines: number;
  readonly gpuHours: GpuHours;
  /** The total duration of the lines. */
  readonly millis: number;
  readonly list: Money;
  readonly contracted: Money;
  readonly effective: Money;
  /** Undefined if the price has no power, if nothing was measured, or if the emission is unknown. */
  readonly power: Money | undefined;
  readonly millijoules: bigint | undefined;
  readonly carbon: Carbon | undefined;
}
