import { setMaxListeners } from "node:events";
import type { Bus } from "../../../runtime/bus/bus.ts";
import { pause, type Clock } from "../../../runtime/clock.ts";
import { ApiError } from "../api/api-error.ts";
import type { ApiConnection } from "../api/connection.ts";
import type { WatchTerm } from "../api/election.ts";
import { nameOf } from "../api/resource.ts";
import { findServed, type ServedResources } from "../api/served.ts";
import { createOwnerCache, type OwnerCacheOptions } from "../owners/cache.ts";
import type { ReflectorTiming } from "../reflector/timing.ts";
import { createBooks, restoreBooks, type FACT_TOPICS } from "./books.ts";
import type { MissingPermission, WatcherEvents } from "./events.ts";
import { endUnseen, followKind, type KindFollower } from "./kind-follower.ts";
import { WATCHED_KINDS, type WatchedKind } from "./kinds.ts";
import { createProjector, type ProjectionOptions } from "./projector.ts";
import type { FactSender } from "./sender.ts";
import { DAY_MILLIS } from "../../../domain/time.ts";

/** How often a term looks for what was installed or removed, and how long what ended stays on the bus. */
export interface TermTiming {
  readonly lookMillis: number;
  /** How long pods wait for what their facts draw from: gangs, claims. */
  readonly settleMillis: number;
  readonly buryEveryMillis: number;
  readonly buryAfterMillis: number;
  readonly reflector?: ReflectorTiming;
}

/** What the service runs with. Who ended is forgotten by the bus a week later, as the topics' lag has it. */
export const TERM_TIMING: TermTiming = {
  lookMillis: 30_000,
  settleMillis: 30_000,
  buryEveryMillis: 3_600_000,
  buryAfterMillis: 7 * DAY_MILLIS,
};

/** What errors of the look for what is served are of. */
export const APIS = "apis";
const TIMEOUT_MILLIS = 10_000;
const MOST_LISTENERS = 200;
/** Until the server has answered once. */
const FIRST_LOOK_MILLIS = 1_000;
const WATCHED_GROUPS: ReadonlySet<string> = new Set(WATCHED_KINDS.map(({ group }) => group));
/** After as many looks in a row that do not find a kind, the kind counts as removed. */
const LOOKS_UNTIL_GONE = 2;
const PODS = WATCHED_KINDS.find(({ resource }) => resource === "pods")!;

/** What a term is given. */
export interface TermOptions {
  readonly cluster: string;
  readonly api: ApiConnection;
  readonly bus: Pick<Bus, "follow">;
  readonly senders: Readonly<Record<(typeof FACT_TOPICS)[number], FactSender>>;
  readonly projection: ProjectionOptions;
  readonly events: WatcherEvents;
  readonly clock: Clock;
  readonly timing: TermTiming;
  /** What is followed, by resource: filled and emptied as the term goes on. */
  readonly followers: Map<string, KindFollower>;
}

/**
 * Watches a cluster until the term ends: learns from the bus what was said before, then follows every kind that the server
 * serves, and those that it comes to serve. Pods wait for the others, as their facts draw on them. Fails where the bus
 * cannot be read.
 */
export async function watchTerm(term: WatchTerm, options: TermOptions): Promise<void> {
  const { cluster, api, bus, senders, projection, events, clock, timing, followers } = options;
  const { signal } = term;
  // Each request and each pause under way listens to it.
  setMaxListeners(MOST_LISTENERS, signal);
  let epoch = term.epoch;
  const books = createBooks(cluster, { epoch: () => epoch, renew: () => void (epoch += 1) }, (topic, message) =>
    senders[topic].send(message),
  );
  await restoreBooks(bus, books, signal);
  if (signal.aborted) return;
  // A lease that was made anew by a clock that went back must not make us a former watcher.
  epoch = Math.max(epoch, 1 + Math.max(...books.all.map(({ highestEpoch }) => highestEpoch)));
  const { kinds } = projection.pods;
  const owners = createOwnerCache({
    api,
    kinds,
    monotonicMillis: () => clock.monotonicMillis(),
    ...createOwnerReports(events),
    signal,
  });
  const projector = createProjector({
    books,
    owners,
    projection,
    onRemarks: (object, remarks) => events.onRemarks(object, remarks),
    signal,
  });
  const room = async (): Promise<void> => {
    for (const sender of Object.values(senders)) await sender.room();
  };

  /** How many looks in a row have not found a kind: while a server starts, it lacks those of custom resources for a moment. */
  const unseen = new Map<string, number>();

  async function follow(kind: WatchedKind): Promise<void> {
    const resource = nameOf({ ...kind, version: "", plural: kind.resource });
    const version = kind.group === "" ? "v1" : served?.get(resource);
    const follower = followers.get(resource);
    if (version !== undefined) {
      unseen.delete(resource);
      if (follower?.version === version) return;
      if (follower === undefined) events.onInstalled(resource);
      else await follower.stop();
      // What the former version had and the new one lacks has ended by now.
      const formerUntilMillis = follower === undefined ? term.formerUntilMillis : api.clock.nowMillis();
      const reflector = timing.reflector === undefined ? {} : { timing: timing.reflector };
      const given = { api, kind, version, books, projector, room, formerUntilMillis, events, ...reflector };
      followers.set(resource, followKind(given));
      return;
    }
    if (served === undefined) return;
    const looks = (unseen.get(resource) ?? 0) + 1;
    unseen.set(resource, looks);
    if (looks < LOOKS_UNTIL_GONE && follower?.isAbsent !== true) return;
    if (follower !== undefined) {
      followers.delete(resource);
      events.onRemoved(resource);
      await follower.remove();
    } else if (looks === LOOKS_UNTIL_GONE) {
      // Nobody watched when it was removed.
      endUnseen({ books, projector, resource }, new Set(), term.formerUntilMillis ?? 0);
    }
  }

  /** What is served as far as is known: a failed look changes nothing. */
  let served: ServedResources | undefined;
  async function look(): Promise<void> {
    try {
      served = await findServed(api, WATCHED_GROUPS, { timeoutMillis: TIMEOUT_MILLIS, signal });
      events.onLooked();
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError)) return;
      events.onError(APIS, error, waitMillis());
    }
    for (const kind of WATCHED_KINDS) if (kind !== PODS) await follow(kind);
    if (pods === undefined && (served !== undefined || clock.monotonicMillis() > startedAt + timing.settleMillis)) {
      const settled = Promise.all([...followers.values()].map((follower) => follower.settled));
      pods = Promise.race([settled, pause(timing.settleMillis, signal)]).then(async () => {
        if (!signal.aborted) await follow(PODS);
      });
    }
  }

  const startedAt = clock.monotonicMillis();
  const waitMillis = (): number => (served === undefined ? FIRST_LOOK_MILLIS : timing.lookMillis);
  let pods: Promise<void> | undefined;
  let buriedAt = startedAt;
  try {
    while (!signal.aborted) {
      await look();
      if (clock.monotonicMillis() - buriedAt >= timing.buryEveryMillis) {
        buriedAt = clock.monotonicMillis();
        for (const book of books.all) book.bury(api.clock.nowMillis() - timing.buryAfterMillis);
      }
      await pause(waitMillis(), signal);
    }
  } finally {
    await pods;
    const stopped = [...followers.values()].map((follower) => follower.stop());
    followers.clear();
    await Promise.all(stopped);
  }
}

/** Tells of each kind of owner that may not be read: once, until it may. */
function createOwnerReports(events: WatcherEvents): Pick<OwnerCacheOptions, "onForbidden" | "onRead"> {
  const missing = new Map<string, MissingPermission>();
  const resourceOf = (group: string, plural: string): string => nameOf({ group, plural, version: "", kind: "" });
  return {
    onForbidden(group, plural) {
      const resource = resourceOf(group, plural);
      if (missing.has(resource)) return;
      const without = "chains of owners end at these objects, whose labels are not read";
      const permission = { verb: "get", resource, without };
      missing.set(resource, permission);
      events.onForbidden(permission);
    },
    onRead(group, plural) {
      const resource = resourceOf(group, plural);
      const permission = missing.get(resource);
      if (permission !== undefined && missing.delete(resource)) events.onAllowed(permission);
    },
  };
}
