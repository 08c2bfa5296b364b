import type { Logger } from "pino";
import type { Run } from "../../../domain/training/identity.ts";
import type { TrainingMetrics } from "../../../domain/training/metrics.ts";
import type { ProgressPoint } from "../../../domain/training/progress.ts";
import { query, selectorOf } from "../read/query.ts";
import { SourceError, type SourceErrorKind } from "../read/source-error.ts";
import { BANDWIDTHS, collectiveHours } from "./collectives.ts";
import { progressOf, reportingPods } from "./progress.ts";
import { asking, isOneOf, type TrainingServer } from "./server.ts";

/** The reasons in reports, by the kind of the failure. */
const REASONS: Readonly<Record<SourceErrorKind, string>> = {
  unavailable: "Prometheus did not answer in time",
  refused: "Prometheus refused the credentials or its certificate was refused",
  limit: "the answer of Prometheus is too large",
  unsupported: "Prometheus does not have the needed API",
  broken: "the answer of Prometheus cannot be read",
};

/** Reads the metrics of trainings from servers with Prometheus' API. The first one with the cluster of a run counts. */
export function createTrainingMetrics(servers: readonly TrainingServer[], logger: Logger): TrainingMetrics {
  const serverOf = ({ cluster }: Run): TrainingServer | undefined =>
    servers.find(({ clusters }) => clusters === undefined || clusters.includes(cluster));

  /** Returns the value of a reading, or the reason why there is none. */
  async function tried<Value>(
    server: TrainingServer,
    read: (asked: TrainingServer) => Promise<Value>,
  ): Promise<{ readonly value: Value } | { readonly failure: string }> {
    try {
      return { value: await read(asking(server)) };
    } catch (error) {
      logger.warn({ err: error }, "the metrics of trainings cannot be read");
      // Viewers read the reason. The address and the sentence of the server are in the log alone.
      return { failure: REASONS[error instanceof SourceError ? error.kind : "broken"] };
    }
  }

  return {
    async progress(runs, now) {
      const points = new Map<string, readonly ProgressPoint[]>();
      const failures = new Map<string, string>();
      for (const server of servers) {
        const own = runs.filter((run) => serverOf(run) === server);
        if (own.length === 0) continue;
        const outcome = await tried(server, async (asked) => {
          for (const [run, pods] of await reportingPods(asked, own, now))
            points.set(run.id, await progressOf(asked, run, pods, now));
        });
        if ("failure" in outcome) for (const { id } of own) failures.set(id, outcome.failure);
      }
      return { points, failures };
    },
    async collectives(run, span) {
      const server = serverOf(run);
      if (server === undefined) return { hours: [] };
      const outcome = await tried(server, (asked) => collectiveHours(asked, run, span));
      return "failure" in outcome ? outcome : { hours: outcome.value };
    },
  };
}

/** Counts the series of a server that reports read now. Fails with a `SourceError`. */
export async function countTrainingSeries(
  { client, step, checkpoint }: TrainingServer,
  now: number,
): Promise<{ readonly progress: number; readonly collectives: number }> {
  const countOf = async (names: readonly string[]): Promise<number> => {
    const found = await query(client, `count(${selectorOf([isOneOf("__name__", names)])})`, now);
    return Number(found[0]?.value?.[1] ?? 0);
  };
  return { progress: await countOf([step, checkpoint]), collectives: await countOf(BANDWIDTHS) };
}
