import { createKubeAccess } from "../../collectors/kubernetes/api/access.ts";
import { createApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { errorText } from "../context.ts";
import type { ClusterUnderCheck, Finding } from "./finding.ts";
import { checkGpuNodes } from "./gpu-nodes.ts";
import type { FoundTarget } from "./jobs.ts";
import { checkPermissions } from "./permissions.ts";

/** The time limits of one answer and of a whole cluster. */
const ANSWER_MILLIS = 10_000;
const CLUSTER_MILLIS = 120_000;

/** Checks every cluster to watch: the server, the permissions, and a target for each GPU. */
export async function* checkClusters(config: Config, targets: readonly FoundTarget[]): AsyncGenerator<Finding> {
  for (const { name = config.cluster, kubeconfig, context } of config.kubernetes.clusters) {
    const access = createKubeAccess({
      ...(kubeconfig === undefined ? {} : { file: kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
    const api = createApiConnection(access, systemClock);
    const cluster = { name, api, timeoutMillis: ANSWER_MILLIS, signal: AbortSignal.timeout(CLUSTER_MILLIS) };
    try {
      const { server } = await access(false);
      yield await checkServer(cluster, server, config.collector.interval);
      yield* checkPermissions(cluster, config.kubernetes);
      yield* checkGpuNodes(cluster, config, targets);
    } catch (error) {
      yield { ok: false, what: `cluster ${name}`, answer: errorText(error) };
    } finally {
      api.close();
    }
  }
}

/**
 * Checks the server's release, and whether its clock and this machine's agree. Samples have this machine's time and pods have the
 * cluster's. With a difference of an interval, a sample is assigned to the wrong pod.
 */
async function checkServer(
  { name, api, timeoutMillis, signal }: ClusterUnderCheck,
  address: string,
  intervalMillis: number,
): Promise<Finding> {
  const { gitVersion } = await api.json<{ readonly gitVersion?: string }>({
    path: "/version",
    silenceMillis: timeoutMillis,
    signal,
  });
  const { skewMillis } = api.clock;
  const seconds = (Math.abs(skewMillis) / 1000).toFixed(1);
  const clock =
    skewMillis === 0
      ? "its clock agrees with this machine's"
      : `its clock is ${seconds} s ${skewMillis > 0 ? "ahead of" : "behind"} this machine's`;
  return {
    ok: Math.abs(skewMillis) < intervalMillis,
    what: `cluster ${name}, server`,
    answer: `${address} is Kubernetes ${gitVersion ?? "of an unknown version"}; ${clock}`,
  };
}
