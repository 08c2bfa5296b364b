import type { FreeState, HeldState } from "../allocation/allocate.ts";
import type { ShareMeasures } from "../share/claim.ts";

/** The payer of a state: the holder of the share, the platform, the holders of a scope together, or the owner of the node pool. */
export type Payer = "holder" | "platform" | "spread" | "owner";

/** The payers of a share without a holder. */
type FreePayer = Exclude<Payer, "holder">;

/** The rule by which a spread cost is divided (docs/policies.md). */
export interface SpreadRule {
  readonly over: "node" | "pool" | "model" | "cluster";
  /**
   * The weight of each team and cost center: the priced direct cost, the GPU-milliseconds held, 1 for each (`even`), or the unused part of
   * the quotas of the team's namespaces. `quota` works only over the cluster in an hour.
   */
  readonly by: "cost" | "time" | "even" | "quota";
  readonly window: "hour" | "day" | "period";
}

/** A policy: the measure of usage, and the payer of each state. */
export interface Policy extends ShareMeasures {
  readonly name: string;
  readonly basis: "allocation" | "usage" | "max";
  readonly payers: {
    /** If absent, the basis decides: the holder pays, but with basis `usage` the platform. */
    readonly idle?: "holder" | "platform";
    readonly unobserved: "holder" | "platform";
    readonly starting: "holder" | "platform";
    readonly waiting: "holder" | "platform";
    readonly unallocated: FreePayer;
    readonly stranded: FreePayer;
    readonly unavailable: FreePayer;
  };
  readonly spread: SpreadRule;
}

/** The policy that applies if the configuration has none. */
export const DEFAULT_POLICY: Policy = {
  name: "default",
  basis: "allocation",
  migShare: "max",
  sharedBy: "replica",
  payers: {
    unobserved: "holder",
    starting: "holder",
    waiting: "holder",
    unallocated: "platform",
    stranded: "platform",
    unavailable: "platform",
  },
  spread: { over: "node", by: "cost", window: "hour" },
};

/** Returns the payer of a state under a policy. */
export function payerOf(state: HeldState | FreeState, { basis, payers }: Policy): Payer {
  switch (state) {
    case "active":
      return "holder";
    case "idle":
      return payers.idle ?? (basis === "usage" ? "platform" : "holder");
    case "unobserved":
    case "starting":
    case "waiting":
    case "unavailable":
    case "stranded":
    case "unallocated":
      return payers[state];
  }
}
