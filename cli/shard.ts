import { CommandError } from "./context.ts";

/** A collector's part of the targets: those whose hash falls on `index` of `count`. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/**
 * Returns the shard of the options of `collect`: `--shard index/count`, or `--shards count`, where the index is the number at the end of
 * the pod's name in a StatefulSet (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#pod-identity). Without either,
 * returns everything. Fails with a `CommandError` if the index is unknown.
 */
export function readShard(
  { shard, shards }: { readonly shard?: string; readonly shards?: string },
  env: NodeJS.ProcessEnv,
): Shard {
  if (shard !== undefined && shards !== undefined) {
    throw new CommandError(`--shard ${shard} and --shards ${shards}: give only one of them`, 2);
  }
  if (shards !== undefined) return ownShard(shards, env["HOSTNAME"] ?? "");
  const match = /^(\d+)\/(\d+)$/.exec(shard ?? "0/1");
  const [index, count] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || index >= count) {
    throw new CommandError(`--shard ${shard}: must be index/count with the index below the count, such as 0/2`, 2);
  }
  return { index, count };
}

function ownShard(shards: string, podName: string): Shard {
  const count = Number(shards);
  if (!/^[1-9]\d*$/.test(shards)) {
    throw new CommandError(`--shards ${shards}: must be the number of collectors that share the targets, such as 2`, 2);
  }
  const instead = "use --shard index/count instead";
  if (podName === "") {
    throw new CommandError(`--shards ${shards}: HOSTNAME, the name of this pod, is not set; ${instead}`, 2);
  }
  const ordinal = /-(\d+)$/.exec(podName)?.[1];
  if (ordinal === undefined) {
    throw new CommandError(
      `--shards ${shards}: the name of this pod, ${podName}, does not end in a number, as the names of a StatefulSet's pods do; ${instead}`,
      2,
    );
  }
  const index = Number(ordinal);
  if (index >= count) {
    throw new CommandError(
      `--shards ${shards}: the name of this pod, ${podName}, ends in ${ordinal}, and the last shard is ${count - 1}; ` +
        "set --shards to the number of replicas",
      2,
    );
  }
  return { index, count };
}
