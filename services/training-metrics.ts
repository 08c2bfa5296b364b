import type { Logger } from "pino";
import { createTrainingMetrics } from "../collectors/prometheus/training/metrics.ts";
import type { TrainingServer } from "../collectors/prometheus/training/server.ts";
import type { TrainingMetrics } from "../domain/training/metrics.ts";
import { clientOf } from "./prometheus-client.ts";
import type { TrainingConfig } from "../runtime/config/training.ts";

const ANSWER_MILLIS = 20_000;
/** A day of a series with a sample each second has some 2 MB in JSON. */
const MOST_BYTES = 32_000_000;

/** The metrics of trainings of a configuration, and the end of their connections. */
export interface OpenTrainingMetrics {
  readonly metrics: TrainingMetrics;
  stop(): Promise<void>;
}

/** Opens the metrics of the servers of `training.prometheus`. */
export function openTrainingMetrics(config: TrainingConfig, logger: Logger): OpenTrainingMetrics {
  const servers = trainingServers(config);
  return {
    metrics: createTrainingMetrics(servers, logger),
    async stop() {
      await Promise.all(servers.map(({ client }) => client.close()));
    },
  };
}

/** Returns the servers of `training.prometheus`. A request that fails is not repeated. */
export function trainingServers({ prometheus }: TrainingConfig): readonly TrainingServer[] {
  return prometheus.map(({ url, ca, bearerToken, basic, tenant, ...server }) => ({
    client: clientOf({ url, ca, bearerToken, basic, tenant }, { timeoutMillis: ANSWER_MILLIS, mostBytes: MOST_BYTES }),
    ...server,
  }));
}
