import type { Bus } from "../../../runtime/bus/bus.ts";
import { pause, type Clock } from "../../../runtime/clock.ts";
import { ApiError } from "../api/api-error.ts";
import type { ApiConnection } from "../api/connection.ts";
import type { WatchTerm } from "../api/election.ts";
import { nameOf } from "../api/resource.ts";
import { findServed, type ServedResources } from "../api/served.ts";
import { createOwnerCache, type OwnerCacheOptions } from "../owners/cache.ts";
import type { ReflectorTiming } from "../reflector/timing.ts";
import {
  createFactRegistries,
  restoreFactRegistries,
  type FACT_TOPICS,
  type FactRegistries,
} from "./fact-registries.ts";
import type { MissingPermission, WatcherEvents } from "./events.ts";
import { endUnseen, followKind, type KindFollower } from "./kind-follower.ts";
import { WATCHED_KINDS, type WatchedKind } from "./kinds.ts";
import { createProjector, type Projector } from "./projector.ts";
import type { ProjectionOptions } from "./projector-state.ts";
import type { FactSender } from "./sender.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../../domain/time.ts";

/** The timing of a term: how often it looks for installed or removed kinds, and how long ended objects stay on the bus. */
export interface TermTiming {
  readonly lookMillis: number;
  /** How long pods wait for the data that their facts need: gangs and claims. */
  readonly settleMillis: number;
  readonly removeEndedEveryMillis: number;
  readonly removeEndedAfterMillis: number;
  readonly reflector?: ReflectorTiming;
}

/** The timing of the service. The bus drops ended objects a week later, because of the topics' compaction lag. */
export const TERM_TIMING: TermTiming = {
  lookMillis: 30_000,
  settleMillis: 30_000,
  removeEndedEveryMillis: HOUR_MILLIS,
  removeEndedAfterMillis: 7 * DAY_MILLIS,
};

/** The resource name for errors of the lookup of served resources. */
export const APIS = "apis";
const TIMEOUT_MILLIS = 10_000;
/** The interval of lookups until the server has answered once. */
const FIRST_LOOK_MILLIS = 1_000;
const WATCHED_GROUPS: ReadonlySet<string> = new Set(WATCHED_KINDS.map(({ group }) => group));
/** The number of consecutive lookups without a kind after which the kind counts as removed. */
const LOOKS_UNTIL_GONE = 2;
const PODS = WATCHED_KINDS.find(({ resource }) => resource === "pods")!;

/** The options of a term. */
export interface TermOptions {
  readonly cluster: string;
  readonly api: ApiConnection;
  readonly bus: Pick<Bus, "follow">;
  readonly senders: Readonly<Record<(typeof FACT_TOPICS)[number], FactSender>>;
  readonly projection: ProjectionOptions;
  readonly events: WatcherEvents;
  readonly clock: Clock;
  readonly timing: TermTiming;
  /** The followers by resource, updated during the term. */
  readonly followers: Map<string, KindFollower>;
}

/**
 * Watches a cluster until the term ends. It reads the earlier facts from the bus, then follows every kind that the server serves now or
 * later. Pods wait for the other kinds, because their facts depend on them. Fails if the bus cannot be read.
 */
export async function watchTerm(term: WatchTerm, options: TermOptions): Promise<void> {
  const { cluster, api, bus, senders, projection, events, clock, timing, followers } = options;
  const { signal } = term;
  let epoch = term.epoch;
  const registries = createFactRegistries(
    cluster,
    { epoch: () => epoch, renew: () => void (epoch += 1) },
    (topic, message) => senders[topic].send(message),
  );
  await restoreFactRegistries(bus, registries, signal);
  if (signal.aborted) return;
  // If the lease was re-created by a clock that went back, this term must still be the latest.
  epoch = Math.max(epoch, 1 + Math.max(...registries.all.map(({ highestEpoch }) => highestEpoch)));
  const { kinds } = projection.pods;
  const owners = createOwnerCache({
    api,
    kinds,
    monotonicMillis: () => clock.monotonicMillis(),
    ...createOwnerReports(events),
    signal,
  });
  const projector = createProjector({
    registries,
    owners,
    projection,
    onRemarks: (object, remarks) => events.onRemarks(object, remarks),
    signal,
  });
  const follow = createKindFollowing({ ...options, term, registries, projector });

  /** The last known served resources. A failed lookup changes nothing. */
  let served: ServedResources | undefined;
  async function look(): Promise<void> {
    try {
      served = await findServed(api, WATCHED_GROUPS, { timeoutMillis: TIMEOUT_MILLIS, signal });
      events.onLooked();
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError)) return;
      events.onError(APIS, error, waitMillis());
    }
    for (const kind of WATCHED_KINDS) if (kind !== PODS) await follow(kind, served);
    if (pods === undefined && (served !== undefined || clock.monotonicMillis() > startedAt + timing.settleMillis)) {
      const settled = Promise.all([...followers.values()].map((follower) => follower.settled));
      pods = Promise.race([settled, pause(timing.settleMillis, signal)]).then(async () => {
        if (!signal.aborted) await follow(PODS, served);
      });
    }
  }

  const startedAt = clock.monotonicMillis();
  const waitMillis = (): number => (served === undefined ? FIRST_LOOK_MILLIS : timing.lookMillis);
  let pods: Promise<void> | undefined;
  let removedAt = startedAt;
  try {
    while (!signal.aborted) {
      await look();
      if (clock.monotonicMillis() - removedAt >= timing.removeEndedEveryMillis) {
        removedAt = clock.monotonicMillis();
        for (const registry of registries.all)
          registry.removeEnded(api.clock.nowMillis() - timing.removeEndedAfterMillis);
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

/** Returns a function that follows a kind if the server serves it, and ends its objects if the server no longer does. */
function createKindFollowing(
  of: TermOptions & {
    readonly term: WatchTerm;
    readonly registries: FactRegistries;
    readonly projector: Projector;
  },
): (kind: WatchedKind, served: ServedResources | undefined) => Promise<void> {
  const { api, senders, events, timing, followers, term, registries, projector } = of;
  const room = async (): Promise<void> => {
    for (const sender of Object.values(senders)) await sender.room();
  };

  /** The number of consecutive lookups without a kind. A server that is starting briefly lacks custom resources. */
  const unseen = new Map<string, number>();

  return async (kind, served) => {
    const resource = nameOf({ ...kind, version: "", plural: kind.resource });
    const version = kind.group === "" ? "v1" : served?.get(resource);
    const follower = followers.get(resource);
    if (version !== undefined) {
      unseen.delete(resource);
      if (follower?.version === version) return;
      if (follower === undefined) events.onInstalled(resource);
      else await follower.stop();
      // Objects of the previous version that the new version lacks have ended by now.
      const formerUntilMillis = follower === undefined ? term.formerUntilMillis : api.clock.nowMillis();
      const reflector = timing.reflector === undefined ? {} : { timing: timing.reflector };
      const given = { api, kind, version, registries, projector, room, formerUntilMillis, events, ...reflector };
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
      // No watcher was active when the kind was removed.
      endUnseen({ registries, projector, resource }, new Set(), term.formerUntilMillis ?? 0);
    }
  };
}

/** Reports each kind of owner that may not be read: once, until it may be read. */
function createOwnerReports(events: WatcherEvents): Pick<OwnerCacheOptions, "onForbidden" | "onRead"> {
  const missing = new Map<string, MissingPermission>();
  const resourceOf = (group: string, plural: string): string => nameOf({ group, plural, version: "", kind: "" });
  return {
    onForbidden(group, plural) {
      const resource = resourceOf(group, plural);
      if (missing.has(resource)) return;
      const without = "chains of owners end at these objects, and their labels are not read";
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
