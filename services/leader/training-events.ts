import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { ApiError } from "../../collectors/kubernetes/api/api-error.ts";
import { postEvent } from "../../collectors/kubernetes/api/post-event.ts";
import type { Run } from "../../domain/training/identity.ts";
import { HOUR_MILLIS, hourOf, MINUTE_MILLIS } from "../../domain/time.ts";
import { QUERY_LIMITS } from "../../reports/access/query-limits.ts";
import { readCharged } from "../../reports/report/charged.ts";
import { eventText } from "../../reports/training/event-text.ts";
import { readRunDetail } from "../../reports/training/read-detail.ts";
import { runRulesOf } from "../../reports/training/read-reports.ts";
import { readRuns } from "../../reports/training/read-runs.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { openTrainingMetrics } from "../training-metrics.ts";
import type { LeaderJob } from "./jobs.ts";
import { connectClusters } from "../clusters.ts";

const EVERY_MILLIS = MINUTE_MILLIS;
/** A run has ended if it has no pod for this time. */
const QUIET_MILLIS = 5 * MINUTE_MILLIS;
/** The longest time since the end of a run. An API server keeps Events for an hour, and until then refuses a second Event of a name. */
const REACH_MILLIS = 45 * MINUTE_MILLIS;

/**
 * Posts the report of each training run that has ended as an Event of its namespace. Runs of clusters without an API server in the configuration get none.
 */
export function trainingEventsJob(of: {
  readonly config: Config;
  readonly store: StoreClient;
  readonly logger: Logger;
  readonly now: () => number;
}): LeaderJob {
  const { config, logger, now } = of;
  const { training } = config;
  const { policies, book } = ledgerOf(config);
  const clusters = connectClusters(config);
  const apis = new Map(clusters.map(({ cluster, api }) => [cluster, api]));
  const { metrics, stop } = openTrainingMetrics(training, logger);
  /** The names of the Events that need no further attempt, with the end of their runs. */
  const done = new Map<string, number>();
  if (clusters.length === 0) logger.warn("training.events is true, but kubernetes.clusters is empty");

  async function work(signal: AbortSignal): Promise<void> {
    const store = of.store.bounded({ caller: "training-events", settings: QUERY_LIMITS, signal });
    const at = now();
    for (const [name, ended] of done) if (ended < at - REACH_MILLIS) done.delete(name);
    const runs = await readRuns(store, runRulesOf(training), { from: at - REACH_MILLIS, until: at });
    for (const run of runs) {
      if (run.ended > at - QUIET_MILLIS || done.has(nameOf(run)) || !(await isCharged(store, run))) continue;
      await post(store, run, { at, signal });
    }
  }

  /** Returns true if the charges contain the whole run. */
  async function isCharged(store: StoreClient, { ended }: Run): Promise<boolean> {
    const hour = hourOf(ended - 1);
    const charged = await readCharged(store, { from: hour, until: hour + HOUR_MILLIS });
    return charged !== undefined && charged.until >= Math.min(ended + QUIET_MILLIS, hour + HOUR_MILLIS);
  }

  async function post(
    store: StoreClient,
    run: Run,
    { at, signal }: { readonly at: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const api = apis.get(run.cluster);
    const { namespace, object } = run;
    const name = nameOf(run);
    const question = { policy: policies[0].name, where: [], training, metrics, now: at };
    // An error with one run must not keep the Events of the others.
    try {
      const detail = api && (await readRunDetail(store, run.id, question));
      if (api === undefined || detail === undefined) return void done.set(name, run.ended);
      const type = detail.run.outcome === "failed" ? "Warning" : "Normal";
      const message = eventText(detail, book.isList === true ? undefined : book.currency);
      await postEvent(api, { namespace, name, object, type, reason: "TrainingRunReport", message, at }, signal);
      done.set(name, run.ended);
      logger.info({ run: run.id }, "the report of a training run is an Event of its namespace");
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !error.retriable) done.set(name, run.ended);
      logger.warn({ err: error, run: run.id }, "the Event of a training run was not posted");
    }
  }

  return {
    name: "events of training runs",
    everyMillis: EVERY_MILLIS,
    work,
    async close() {
      await stop();
      for (const { api } of clusters) api.close();
    },
  };
}

/** Returns the name of the Event of a run's end: the same of every leader. */
function nameOf({ id, object, ended }: Run): string {
  const hash = createHash("sha256").update(`${id} ${ended}`).digest("hex").slice(0, 16);
  return `${object.name.slice(0, 200)}.${hash}`;
}
