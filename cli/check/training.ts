import { countTrainingSeries } from "../../collectors/prometheus/training/metrics.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { trainingServers } from "../../services/training-metrics.ts";
import { attempt, type Finding } from "./finding.ts";

/** Checks the servers with metrics of trainings: whether they answer, and how many series they have now. */
export async function* checkTraining({ training }: Config, now: number): AsyncGenerator<Finding> {
  for (const [index, server] of trainingServers(training).entries()) {
    yield await attempt(`training.prometheus[${index}]`, async () => {
      const { progress, collectives } = await countTrainingSeries(server, now);
      return `${progress} series of progress and ${collectives} of NCCL Inspector now`;
    });
    await server.client.close();
  }
}
