import { nameOf } from "../api/resource.ts";
import type { ApiConnection } from "../api/connection.ts";
import { startReflector } from "../reflector/reflector.ts";
import type { ReflectorTiming } from "../reflector/timing.ts";
import type { FactRegistries } from "./fact-registries.ts";
import type { MissingPermission, WatcherEvents } from "./events.ts";
import { createKeyedQueue } from "./keyed-queue.ts";
import type { WatchedKind } from "./kinds.ts";
import type { Projector } from "./projector.ts";
import type { SeenObject } from "./seen-object.ts";

/** A follower of one kind. */
export interface KindFollower {
  /** The API version in which the objects are read. */
  readonly version: string;
  readonly objects: number;
  /** The time of the server's last report about the kind, by the monotonic clock: a list, an accepted watch, an event, or a refusal. */
  readonly heardAt: number;
  /** True if the server reports that the resource does not exist. */
  readonly isAbsent: boolean;
  /** Resolves when the facts of all objects are sent, or when it is clear that the objects cannot be listed for now. */
  readonly settled: Promise<void>;
  /** Stops the follower. Its facts stay. */
  stop(): Promise<void>;
  /** Stops the follower and ends the facts of all objects, because the kind is no longer served. */
  remove(): Promise<void>;
}

/** The number of owners that are read concurrently. */
const WIDTH = 16;

/** Ends the facts of all objects of a resource that were not seen. */
export function endUnseen(
  {
    registries,
    projector,
    resource,
  }: { readonly registries: FactRegistries; readonly projector: Projector; readonly resource: string },
  seen: ReadonlySet<string>,
  untilMillis: number,
): void {
  for (const registry of registries.all) {
    for (const { uid, resource: from, sight } of registry.living()) {
      if (from !== resource || seen.has(uid)) continue;
      projector.gone(resource, uid, { atMillis: Math.max(untilMillis, sight.atMillis), inferred: true }, sight);
    }
  }
}

/** Follows the objects of a kind. Each becomes a fact. An object that an earlier watcher had and a list lacks has ended. */
export function followKind(options: {
  readonly api: ApiConnection;
  readonly kind: WatchedKind;
  readonly version: string;
  readonly registries: FactRegistries;
  readonly projector: Projector;
  /** Waits until facts can be sent. */
  readonly room: () => Promise<void>;
  /** The time until which the previous watcher was active. Its objects existed then. */
  readonly formerUntilMillis: number | undefined;
  readonly events: WatcherEvents;
  readonly timing?: ReflectorTiming;
}): KindFollower {
  const { api, kind, version, registries, projector, room, formerUntilMillis = 0, events, timing } = options;
  const plural = kind.resource;
  const resource = nameOf({ ...kind, version, plural });
  const apiVersion = kind.group === "" ? version : `${kind.group}/${version}`;
  const queue = createKeyedQueue(WIDTH);
  /** The UIDs in the first list, until it is complete. */
  let first: Set<string> | undefined = new Set();
  let isAbsent = false;
  let settle = (): void => {};
  const settled = new Promise<void>((resolve) => (settle = resolve));
  const permission = createPermission({ verb: "list", resource, without: kind.without }, events);

  const reflector = startReflector({
    api,
    resource: { ...kind, version, plural },
    ...(kind.fieldSelector === undefined ? {} : { fieldSelector: kind.fieldSelector }),
    ...(timing === undefined ? {} : { timing }),
    sink: {
      async onObject(object, { atMillis }) {
        const { uid, resourceVersion } = object.metadata;
        first?.add(uid);
        await room();
        const seen = { apiVersion, kind: kind.kind, ...object } as SeenObject;
        await queue.run(uid, async () => projector.take(resource, seen, { resourceVersion, atMillis }));
      },
      async onGone({ uid, resourceVersion }, { atMillis, inferred }) {
        await room();
        const sight = { resourceVersion, atMillis };
        await queue.run(uid, async () => projector.gone(resource, uid, { atMillis, inferred }, sight));
      },
      async onListed(objects) {
        await queue.idle();
        events.onListed(resource, objects);
        permission.allow();
        isAbsent = false;
        if (first !== undefined) endUnseen({ registries, projector, resource }, first, formerUntilMillis);
        first = undefined;
        projector.listed(resource, api.clock.nowMillis());
        settle();
      },
    },
    events: {
      onListStarted: () => {},
      onWatchEvent: (type) => events.onWatchEvent(resource, type),
      onWatchEnded: (why) => events.onWatchEnded(resource, why),
      onWatchTaken() {
        permission.allow();
        events.onWatchTaken(resource);
      },
      onVersionsBack: () => events.onVersionsBack(resource),
      onError(error, againInMillis, absent) {
        events.onError(resource, error, againInMillis);
        if (!absent) return;
        isAbsent = error.code === "not-found";
        if (error.code === "forbidden") permission.refuse();
        settle();
      },
    },
  });

  async function stop(): Promise<void> {
    await reflector.stop();
    permission.allow();
    await queue.idle();
    settle();
  }

  return {
    version,
    settled,
    get heardAt() {
      return reflector.heardAt;
    },
    get isAbsent() {
      return isAbsent;
    },
    get objects() {
      return reflector.objects;
    },
    stop,
    async remove() {
      await stop();
      endUnseen({ registries, projector, resource }, new Set(), api.clock.nowMillis());
    },
  };
}

/** Reports a missing permission once, until it is given. */
function createPermission(
  permission: MissingPermission,
  events: Pick<WatcherEvents, "onForbidden" | "onAllowed">,
): { refuse(): void; allow(): void } {
  let isRefused = false;
  return {
    refuse() {
      if (!isRefused) events.onForbidden(permission);
      isRefused = true;
    },
    allow() {
      if (isRefused) events.onAllowed(permission);
      isRefused = false;
    },
  };
}
