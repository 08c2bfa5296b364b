import { z } from "zod";
import { isoText } from "../../domain/time.ts";
import { readLiveFleet, type LiveFleet } from "../read/live-gpus.ts";
import { fleetSeenBy } from "../read/seen.ts";
import { readQueue } from "../read/queue.ts";
import { jsonBody } from "../server/answers.ts";
import type { ApiContext } from "./context.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { fleetSchema, queueSchema } from "./live-schemas.ts";

/** Adds `/fleet` and `/queue`: the current holders and the pods that wait. */
export function addNow(server: ApiServer, { ledger, answers, now }: ApiContext): void {
  addRoute(server, {
    path: "/fleet",
    summary: "All current GPUs, instances and replicas, with holder, start, evidence and activity.",
    query: z.strictObject({}),
    answer: fleetSchema,
    async handle({ request, reply }) {
      const { viewer } = request;
      return answers.sendLive(request, reply, async ({ store }) =>
        jsonBody(fleetJson(fleetSeenBy(viewer, await readLiveFleet(store, ledger.owners, now())))),
      );
    },
  });
  addRoute(server, {
    path: "/queue",
    summary: "Pods that wait for GPUs and the reasons, gangs that hold GPUs and wait, quotas and queues.",
    query: z.strictObject({}),
    answer: queueSchema,
    async handle({ request, reply }) {
      const { viewer } = request;
      return answers.sendLive(request, reply, async ({ store }) =>
        jsonBody({ at: isoText(now()), ...(await readQueue(store, ledger.owners, viewer, now())) }),
      );
    },
  });
}

function fleetJson({ atMillis, gpus, unobserved }: LiveFleet): object {
  return {
    at: isoText(atMillis),
    gpus: gpus.map(({ holder, activityRatio, scrapedAtMillis, ...gpu }) => ({
      ...gpu,
      activityRatio: activityRatio ?? null,
      scrapedAt: isoText(scrapedAtMillis),
      holder: holder === undefined ? null : holderJson(holder),
    })),
    unobserved,
  };
}

function holderJson({ workload, ...holder }: NonNullable<LiveFleet["gpus"][number]["holder"]>): object {
  if (workload === undefined) return { ...holder, workload: null };
  const { sinceMillis, ...of } = workload;
  return { ...holder, workload: { ...of, since: isoText(sinceMillis) } };
}
