import type { FreeState, HeldState } from "../allocation/allocate.ts";
import type { ShareMeasures } from "../share/claim.ts";

/** Who pays for a state: whoever holds the share, the platform, the holders of a scope together, or the owner of the node pool. */
export type Payer = "holder" | "platform" | "spread" | "owner";

/** Who pays for what nobody holds. */
type FreePayer = Exclude<Payer, "holder">;

/** How what is spread is divided (ledger, "Policies"). */
export interface SpreadRule {
  readonly over: "node" | "pool" | "model" | "cluster";
  /**
   * By the priced direct cost, by the GPU-milliseconds held, 1 for each team and cost centre, or by what is not held of the quotas of
   * a team's namespaces: that is over the cluster in an hour alone.
   */
  readonly by: "cost" | "time" | "even" | "quota";
  readonly window: "hour" | "day" | "period";
}

/** A policy: what it counts, and who pays for what. */
export interface Policy extends ShareMeasures {
  readonly name: string;
  readonly basis: "allocation" | "usage" | "max";
  readonly payers: {
    /** Absent where the basis says it: the holder, by usage the platform. */
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

/** The policy of whoever writes none. */
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

/** Who pays for a state under a policy. */
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
