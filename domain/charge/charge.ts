import type { FreeState, HeldState } from "../allocation/allocate.ts";
import { ZERO, type Rational } from "../exact/rational.ts";
import { lastUnits, type Carbon, type GpuHours, type Money } from "../exact/units.ts";
import type { Evidence } from "../holder.ts";
import { PLATFORM, type Dimension } from "../owner/owner.ts";
import type { Payer } from "../policy/policy.ts";
import type { CostKind } from "../price/book.ts";
import { MACHINE_DIMENSIONS, type HOLDER_DIMENSIONS } from "./dimension.ts";

/** What a line of a bill is for: a state of a share, or a cost that no share has. */
export type ChargeState = HeldState | FreeState | "non-gpu" | "unused commitment" | "markup" | "true-up";

/** The states of a bill's lines: of held shares, of free ones, and costs that no share has. */
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
] as const satisfies readonly ChargeState[];

/** Whether a team pays for a line: as its holder, as one of those that it was spread over, or as the owner of the pool. */
export function isTeams({ payer }: Pick<Charge, "payer">): boolean {
  return payer === "holder" || payer === "owner";
}

/** Three kinds of costs of one thing. */
export type Costs = Readonly<Record<CostKind, Money>>;

/** A line of a bill under one policy, with everything that it can be grouped by, and where each of its figures comes from. */
export interface Charge extends Readonly<Record<(typeof MACHINE_DIMENSIONS)[number], string>> {
  /** Milliseconds since the epoch, half-open, within one UTC hour. */
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly cluster: string;
  readonly node: string;
  /** The GPU's index; undefined for a line of a whole node, or of none. */
  readonly slot: number | undefined;
  readonly state: ChargeState;
  /** Why, where the state alone does not say: `xid-79`, `absent`, `nobody`. */
  readonly because: string;
  readonly payer: Payer;
  /**
   * Who pays: {@link PLATFORM} where the platform does, `unowned` where nobody is named. Of what waits to be spread: the owner of the
   * pool, who pays where nobody holds anything in the scope; {@link PLATFORM} where the pool has none.
   */
  readonly team: string;
  readonly costCenter: string;
  readonly project: string;
  readonly environment: string;
  /** Who held it, whoever pays; undefined for what was free. */
  readonly holder: ChargedHolder | undefined;
  /** Exact GPU-milliseconds: the share times its time. */
  readonly shareMillis: Rational;
  readonly gpuHours: GpuHours;
  /** Absent where no price was visible. */
  readonly costs: Costs | undefined;
  /** Of each of the costs, what power costs; absent where the price has no power. */
  readonly power?: Money | undefined;
  /** Energy at the GPU; absent where nothing was measured. */
  readonly millijoules?: bigint | undefined;
  /** Absent where no energy was measured, or nothing says what it emits. */
  readonly carbon?: Carbon | undefined;
  readonly trail: ChargeTrail;
}

/** The holder's dimensions on a line. */
export interface ChargedHolder extends Readonly<Record<(typeof HOLDER_DIMENSIONS)[number], string>> {
  /** A pod's UID, or the name of a job. */
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly attribution: Evidence;
  /** Of the GPU, as its regime has it, and after oversubscription was divided away: `1/4`. */
  readonly rawShare: string;
  readonly share: string;
}

/** Where the figures of a line come from. */
export interface ChargeTrail {
  /** The entry of the price book: `prices[3]`; empty where none prices it. */
  readonly price: string;
  /** Since when that entry has priced the node without a break, milliseconds since the epoch; 0 where none does. */
  readonly pricedSince: number;
  /** The rule that named each owner: `owners.team[1]`; empty where none did. */
  readonly owners: Readonly<Record<Dimension, string>>;
}

/** No rule named anybody. */
export const NO_OWNERS: ChargeTrail["owners"] = { team: "", costCenter: "", project: "", environment: "" };

const NO_MACHINE = Object.fromEntries(MACHINE_DIMENSIONS.map((name) => [name, ""])) as Record<
  (typeof MACHINE_DIMENSIONS)[number],
  ""
>;

/** What a line that no share of a GPU has says of itself at least. */
type Beside = Pick<Charge, "fromMillis" | "untilMillis" | "cluster" | "state" | "costs"> &
  Partial<Omit<Charge, "trail">>;

/**
 * A line of a cost that no share of a GPU has: the platform's, of no node, no holder and no GPU-hours where nothing else is given.
 * `price` names what it comes from, as in {@link ChargeTrail}.
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

/** An amount in the effective cost alone: by list and by contract it is nothing. */
export function effectively(amount: Money): Costs {
  const nothing = lastUnits<"currency">(0n);
  return { list: nothing, contracted: nothing, effective: amount };
}
