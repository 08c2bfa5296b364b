import { holdsAt, type ClusterHoldings, type Holding, type NodeHoldings } from "../holding.ts";

/**
 * A node at the time of a sample, and how far an answer reaches that was found by looking at it: as long as nothing that
 * was looked at begins or ends.
 */
export interface Moment {
  readonly millis: number;
  readonly cluster: ClusterHoldings;
  readonly name: string;
  readonly node: NodeHoldings;
  /** The pods that hold then, by namespace, name and UID. */
  readonly pods: readonly Holding[];
  /** The answer holds for times in `[from, until)`. */
  from: number;
  until: number;
  /** The answer depends on what is known of other nodes too. */
  beyond: boolean;
}

/** A node of which nothing is known. */
const UNKNOWN: NodeHoldings = { version: 0, pods: [], gpus: [], claimed: () => [] };

/** The node of this name at a time. */
export function momentOf(
  cluster: ClusterHoldings,
  name: string,
  node: NodeHoldings | undefined,
  millis: number,
): Moment {
  const moment: Moment = {
    millis,
    cluster,
    name,
    node: node ?? UNKNOWN,
    pods: node?.pods.filter((pod) => holdsAt(pod, millis)) ?? [],
    from: -Infinity,
    until: Infinity,
    beyond: node === undefined,
  };
  for (const pod of moment.node.pods) look(moment, pod);
  return moment;
}

/** Takes the begin and the end of a pod as ends of the answer. */
export function look(moment: Moment, { from, until }: Holding): void {
  for (const edge of [from, until]) {
    if (edge <= moment.millis) moment.from = Math.max(moment.from, edge);
    else moment.until = Math.min(moment.until, edge);
  }
}
