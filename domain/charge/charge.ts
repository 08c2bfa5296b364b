import type { FreeState, HeldState } from "../allocation/allocate.ts";
import { ZERO, type Rational } from "../exact/rational.ts";
import { lastUnits, type Carbon, type GpuHours, type Money } from "../exact/units.ts";
import type { Evidence } from "../holder.ts";
import { PLATFORM, type Dimension } from "../owner/owner.ts";
import type { Payer } from "../policy/policy.ts";
import type { CostKind } from "../price/book.ts";
import { MACHINE_DIMENSIONS, type HOLDER_DIMENSIONS, type MachineDimension } from "./dimension.ts";

/** The state that a line is charged for: a state of a share, or a cost without a share. */
export type ChargeState = HeldState | FreeState | "non-gpu" | "unused commitment" | "markup" | "true-up" | "invoice";

/** All states of charge lines: of held shares, of free shares, and of costs without a share. */
export const CHARGE_STATES = [
  "active",
  "idle",
  "waiting",
  "starting",
  "unobserved",
  "unavailable",
  "stranded",
  "unallocated",
  "non-gpu",
  "unused commitment",
  "markup",
  "true-up",
  "invoice",
] as const satisfies readonly ChargeState[];

/**
 * Returns whether a team pays for a line: as the holder, as one of the teams that the line was spread over, or as the owner of the pool.
 */
export function isTeams({ payer }: Pick<Charge, "payer">): boolean {
  return payer === "holder" || payer === "owner";
}

/** A list cost, a contracted cost and an effective cost for the same quantity. */
export type Costs = Readonly<Record<CostKind, Money>>;

/** A charge: a line of a bill under one policy, with all dimensions for grouping and the source of each figure. */
export interface Charge extends Readonly<Record<MachineDimension, string>> {
  /** Milliseconds since the epoch, half-open, within one UTC hour. */
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly cluster: string;
  readonly node: string;
  /** The GPU's index. Undefined for a line of a whole node or of no node. */
  readonly slot: number | undefined;
  readonly state: ChargeState;
  /** The reason, if the state alone does not give it: `xid-79`, `absent`, `nobody`. */
  readonly because: string;
  readonly payer: Payer;
  /**
   * The team that pays: {@link PLATFORM} if the platform pays, `unowned` if no team is named. For a cost that waits to be spread: the owner
   * of the pool, who pays if the scope has no holder; {@link PLATFORM} if the pool has no owner.
   */
  readonly team: string;
  readonly costCenter: string;
  readonly project: string;
  readonly environment: string;
  /** The holder, independent of the payer. Undefined for a free share. */
  readonly holder: ChargedHolder | undefined;
  /** Exact GPU-milliseconds: the share times its duration. */
  readonly shareMillis: Rational;
  readonly gpuHours: GpuHours;
  /** Absent if no price applied. */
  readonly costs: Costs | undefined;
  /** The part of each cost that is power; absent if the price has no power. */
  readonly power?: Money | undefined;
  /** Energy at the GPU, in millijoules; absent if nothing was measured. */
  readonly millijoules?: bigint | undefined;
  /** Absent if no energy was measured, or if no emission factor is known. */
  readonly carbon?: Carbon | undefined;
  readonly trail: ChargeTrail;
}

/** The holder's dimensions on a line. */
export interface ChargedHolder extends Readonly<Record<(typeof HOLDER_DIMENSIONS)[number], string>> {
  /** A pod's UID, or the name of a job. */
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly attribution: Evidence;
  /** The share of the GPU as its regime defines it: `1/4`. `share` is the share after the reduction for oversubscription. */
  readonly rawShare: string;
  readonly share: string;
}

/** The sources of a line's figures. */
export interface ChargeTrail {
  /** The name of the entry in the price book; empty if no entry prices the line. */
  readonly price: string;
  /** Since when that entry has priced the node without a break, milliseconds since the epoch; 0 if no entry does. */
  readonly pricedSince: number;
  /** The name of the rule that named each owner: `podLabel team`, or `policy default` if the policy lets the platform pay; empty if no rule did. */
  readonly owners: Readonly<Record<Dimension, string>>;
}

/** The owner trail of a line for which no rule named an owner. */
export const NO_OWNERS: ChargeTrail["owners"] = { team: "", costCenter: "", project: "", environment: "" };

/** The dimensions of a line without a GPU and a machine. */
export const NO_MACHINE = Object.fromEntries(MACHINE_DIMENSIONS.map((name) => [name, ""])) as Readonly<
  Record<MachineDimension, "">
>;

/** The fields that a line without a GPU share must have. */
type Beside = Pick<Charge, "fromMillis" | "untilMillis" | "cluster" | "state" | "costs"> &
  Partial<Omit<Charge, "trail">>;

/**
 * Returns a line for a cost without a GPU share. By default the platform pays, and the line has no node, no holder and no GPU-hours.
 * `price` names the source, as in {@link ChargeTrail}.
 */
export function chargeBeside(given: Beside, price: Pick<ChargeTrail, "price"> & Partial<ChargeTrail>): Charge {
  return {
    node: "",
    slot: undefined,
    ...NO_MACHINE,
    because: "",
    payer: "platform",
    team: PLATFORM,
    costCenter: "",
    project: "",
    environment: "",
    holder: undefined,
    shareMillis: ZERO,
    gpuHours: lastUnits(0n),
    ...given,
    trail: { pricedSince: 0, owners: NO_OWNERS, ...price },
  };
}

/** Returns costs with the amount as the effective cost only. The list and contracted costs are 0. */
export function effectively(amount: Money): Costs {
  const nothing = lastUnits<"currency">(0n);
  return { list: nothing, contracted: nothing, effective: amount };
}
