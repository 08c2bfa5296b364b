import { z } from "zod";
import { maySeeTeam, seesAll, type Viewer } from "../access/viewer.ts";
import { readLiveFleet, type LiveFleet } from "../live/gpus.ts";
import { readQueue } from "../queue/read.ts";
import { jsonBody } from "../server/answers.ts";
import type { ApiContext } from "./context.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { fleetSchema, queueSchema } from "./schemas.ts";

/** `/fleet` and `/queue`: what holds and what waits now. */
export function addNow(server: ApiServer, { store, ledger, answers, now }: ApiContext): void {
  addRoute(server, {
    path: "/fleet",
    summary: "Every GPU, instance and replica now: who holds it, since when, by which evidence, and how active it is.",
    query: z.strictObject({}),
    answer: fleetSchema,
    async handle({ request, reply }) {
      const { viewer } = request;
      return answers.sendLive(request, reply, async () =>
        jsonBody(fleetSeenBy(viewer, await readLiveFleet(store, ledger.owners, now()))),
      );
    },
  });
  addRoute(server, {
    path: "/queue",
    summary: "What waits for GPUs and why, which gangs hold GPUs while they wait, and what quotas and queues grant.",
    query: z.strictObject({}),
    answer: queueSchema,
    async handle({ request, reply }) {
      const { viewer } = request;
      return answers.sendLive(request, reply, async () =>
        jsonBody({ at: iso(now()), ...(await readQueue(store, ledger.owners, viewer, now())) }),
      );
    },
  });
}

/** What a viewer may see of the fleet: of some teams alone, what their workloads hold. */
export function fleetSeenBy(viewer: Viewer, { atMillis, gpus, unobserved }: LiveFleet): object {
  const seen = seesAll(viewer)
    ? gpus
    : gpus.filter(({ holder }) => holder?.workload !== undefined && maySeeTeam(viewer, holder.workload.team));
  return {
    at: iso(atMillis),
    gpus: seen.map(({ holder, activityRatio, scrapedAtMillis, ...gpu }) => ({
      ...gpu,
      activityRatio: activityRatio ?? null,
      scrapedAt: iso(scrapedAtMillis),
      holder: holder === undefined ? null : holderJson(holder),
    })),
    unobserved: seesAll(viewer) ? unobserved : [],
  };
}

function holderJson({ workload, ...holder }: NonNullable<LiveFleet["gpus"][number]["holder"]>): object {
  if (workload === undefined) return { ...holder, workload: null };
  const { sinceMillis, ...of } = workload;
  return { ...holder, workload: { ...of, since: iso(sinceMillis) } };
}

function iso(millis: number): string {
  return new Date(millis).toISOString();
}
