import { holdsAt, type ClusterHoldings, type Holding, type NodeHoldings } from "../holding.ts";

/** A node at the time of a sample, and the validity of a result that was computed from it: until one of the used pods begins or ends. */
export interface Moment {
  readonly millis: number;
  readonly cluster: ClusterHoldings;
  readonly name: string;
  readonly node: NodeHoldings;
  /** The pods that hold at that time, sorted by namespace, name and UID. */
  readonly pods: readonly Holding[];
  /** The result is valid for times in `[from, until)`. */
  from: number;
  until: number;
  /** The result also depends on facts of other nodes. */
  beyond: boolean;
}

/** The holdings of an unknown node. */
const UNKNOWN: NodeHoldings = { version: 0, pods: [], gpus: [], claimed: () => [] };

/** Returns the node of this name at a time. */
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

/** Limits the validity of the result by the begin and the end of a pod. */
export function look(moment: Moment, { from, until }: Holding): void {
  for (const edge of [from, until]) {
    if (edge <= moment.millis) moment.from = Math.max(moment.from, edge);
    else moment.until = Math.min(moment.until, edge);
  }
}
