/** The sums of charges that are compared: energy in millijoules, all others in last units. */
export const SUMMED = ["gpu-hours", "list", "contracted", "effective", "power", "energy", "carbon"] as const;

/**
 * A difference between the sum of charges of a GPU or node and its cost, energy, emissions or time of existence, or a node that has no usage or
 * no charges because its computation failed.
 */
export interface Breach {
  readonly policy: string;
  readonly node: string;
  /** The GPU's index; empty for the rest of a node. */
  readonly slot: string;
  readonly what: (typeof SUMMED)[number] | "usage" | "charges";
  readonly expected: string;
  readonly found: string;
}

/** Returns the breach of a node that cannot be metered (`usage`) or charged (`charges`). */
export function failedNode(what: "usage" | "charges", node: string, error: unknown): Breach {
  const found = error instanceof Error ? error.message : String(error);
  return { policy: "", node, slot: "", what, expected: "computed", found };
}
