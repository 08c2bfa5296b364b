import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import type { OwnerRules } from "../../../domain/owner/compile.ts";
import type { NodePrices } from "../charge/node-prices.ts";

/** The rules that {@link prepareChanges} uses. */
export interface ChangeRules {
  readonly owners: OwnerRules;
  /** The prices of the other bill. */
  readonly prices: NodePrices;
  /** True if GPUs that nobody holds any more leave the fleet, so that they cost nothing. */
  readonly freedLeave: boolean;
  /** Returns true for a node that leaves the fleet for the hours in which nobody holds any of its GPUs. */
  readonly isRemoved: (cluster: string, node: string) => boolean;
  /** The effect of packing pods onto fewer nodes; absent if no change packs any. */
  readonly packed?: PackedNodes;
}

/** The effect of changes that pack pods onto fewer nodes. */
export interface PackedNodes {
  /** Returns true for the time of a GPU that leaves the fleet. */
  readonly leaves: (row: UsageHour) => boolean;
  /** Returns true for the time of a node that a change names and that cannot leave, if fewer nodes leave than the change asks for. */
  readonly stays: (row: UsageHour) => boolean;
}
