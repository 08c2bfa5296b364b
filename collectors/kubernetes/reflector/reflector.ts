import { pause } from "../../../runtime/clock.ts";
import { ApiError } from "../api/api-error.ts";
import { createApiBackOff } from "../api/api-back-off.ts";
import type { ApiConnection } from "../api/connection.ts";
import type { ApiResource, ApiObject } from "../api/resource.ts";
import { listObjects, newestVersion } from "./list.ts";
import { REFLECTOR_TIMING, type ReflectorTiming } from "./timing.ts";
import { watchObjects } from "./watch.ts";

/** The receiver of a resource's objects. It gets them one at a time: the reflector waits for each returned promise. */
export interface ObjectSink {
  /** Gets the current state of an object. `listed` if it came with a list and may be known already. */
  onObject(object: ApiObject, seen: { readonly atMillis: number; readonly listed: boolean }): Promise<void> | void;
  /**
   * Gets an object that no longer exists. `inferred` if a list did not contain it: it was deleted after the server's last report, whose
   * time is then given.
   */
  onGone(gone: ObjectIdentity, seen: { readonly atMillis: number; readonly inferred: boolean }): Promise<void> | void;
  /** Called when a list was delivered in full. Objects that it did not contain no longer exist. */
  onListed(objects: number): Promise<void> | void;
}

/** The identity of an object. It distinguishes objects with the same name. */
export interface ObjectIdentity {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
}

/** The events of a reflector, for metrics and logs. */
export interface ReflectorEvents {
  onListStarted(): void;
  onWatchEvent(type: string): void;
  /** The server has accepted a watch. */
  onWatchTaken(): void;
  /** A watch ended. `expired` and `silent` cause a new list. `garbage` means that the stream contained something that is not an event. */
  onWatchEnded(why: "timeout" | "silent" | "expired" | "garbage" | "failed"): void;
  /**
   * A request failed. It is retried after `againInMillis`. `isAbsent` if the resource does not exist, or has been forbidden for longer than
   * a server takes to start.
   */
  onError(error: ApiError, againInMillis: number, isAbsent: boolean): void;
  /** The server's versions have gone back, as after a restore of its database. All objects are delivered again. */
  onVersionsBack(): void;
}

/** A running reflector. */
export interface Reflector {
  /** True if a list was delivered in full since the start. */
  readonly listed: boolean;
  readonly objects: number;
  /**
   * The time of the server's last report, by the monotonic clock: a list, an accepted watch, an event, or an error that the resource does
   * not exist or may not be read.
   */
  readonly heardAt: number;
  stop(): Promise<void>;
}

/** Returns whether a version is older than another. Versions that are not numbers cannot be compared. */
function isOlder(version: string, than: string): boolean {
  return /^\d+$/.test(version) && /^\d+$/.test(than) && BigInt(version) < BigInt(than);
}

/** The status of a list whose `resourceVersion` the server has not reached, and does not reach in time. */
const GATEWAY_TIMEOUT = 504;

/**
 * Follows all objects of one resource: lists them, watches from the list's resourceVersion, and lists again if the server no longer has
 * that version or was silent. A list is never older than the last seen version, unless the versions of the server went back. Objects are
 * identified by UID.
 *
 * Only the identity of an object is kept. Every failure is reported and retried with growing pauses. Only `stop` ends the reflector.
 */
export function startReflector(options: {
  readonly api: ApiConnection;
  readonly resource: ApiResource;
  /** For example `spec.nodeName!=`; all objects if absent. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  readonly sink: ObjectSink;
  readonly events: ReflectorEvents;
  readonly timing?: ReflectorTiming;
  readonly random?: () => number;
}): Reflector {
  const { api, resource, sink, events, timing = REFLECTOR_TIMING, random = Math.random } = options;
  const selectors: Record<string, string> = {
    ...(options.fieldSelector === undefined ? {} : { fieldSelector: options.fieldSelector }),
    ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
  };
  const stopping = new AbortController();
  const { signal } = stopping;
  const backOff = createApiBackOff(random);
  const known = new Map<string, ObjectIdentity>();
  let listed = false;
  /** The newest version seen; empty before the first list. */
  let version = "";
  /** The time of the server's last report of state, by its clock. */
  let heardAtMillis = 0;
  let heardAt = performance.now();
  let mustList = true;
  /** True if the server's versions may have gone back: a server that was away may have been restored from a backup. */
  let inDoubt = false;
  /** True if known versions may have other content, because versions went back. */
  let tellsAgain = false;
  let isWatching = false;
  let streamsLists = true;
  /** Since when everything has been forbidden, by the monotonic clock. */
  let forbiddenSince: number | undefined;

  function noteAnswer(): void {
    heardAtMillis = api.clock.nowMillis();
    heardAt = performance.now();
  }

  async function take(object: ApiObject, isListed: boolean): Promise<void> {
    const { uid, namespace = "", name, resourceVersion } = object.metadata;
    // A list after the first contains known objects. Only objects that have changed are delivered.
    if (isListed && !tellsAgain && known.get(uid)?.resourceVersion === resourceVersion) return;
    await sink.onObject(object, { atMillis: api.clock.nowMillis(), listed: isListed });
    known.set(uid, { uid, namespace, name, resourceVersion });
  }

  async function drop(uid: string, inferred: boolean, last?: string): Promise<void> {
    const identity = known.get(uid);
    if (identity === undefined) return;
    const gone = last === undefined ? identity : { ...identity, resourceVersion: last };
    await sink.onGone(gone, { atMillis: inferred ? heardAtMillis : api.clock.nowMillis(), inferred });
    known.delete(uid);
  }

  /** Drops the seen versions if the server's newest version is older. */
  async function compareVersions(): Promise<void> {
    const newest = await newestVersion({ api, resource, selectors, timing, signal });
    inDoubt = false;
    if (!isOlder(newest, version)) return;
    goBack();
  }

  function goBack(): void {
    version = "";
    mustList = true;
    tellsAgain = true;
    events.onVersionsBack();
  }

  async function list(): Promise<void> {
    events.onListStarted();
    const seen = new Set<string>();
    const outcome = await listObjects({
      api,
      resource,
      selectors,
      timing,
      signal,
      notOlderThan: version,
      streaming: streamsLists,
      onStart: () => seen.clear(),
      async onObject(object) {
        seen.add(object.metadata.uid);
        await take(object, true);
      },
    });
    streamsLists = outcome.streamed;
    version = outcome.resourceVersion;
    backOff.reset();
    forbiddenSince = undefined;
    for (const uid of known.keys()) if (!seen.has(uid)) await drop(uid, true);
    noteAnswer();
    mustList = false;
    tellsAgain = false;
    listed = true;
    await sink.onListed(known.size);
  }

  async function watch(): Promise<void> {
    const seconds = Math.round(timing.watchSeconds * (1 + random()));
    const why = await watchObjects({
      api,
      resource,
      query: { ...selectors, timeoutSeconds: String(seconds) },
      from: version,
      timing,
      signal,
      onTaken() {
        isWatching = true;
        forbiddenSince = undefined;
        heardAt = performance.now();
        events.onWatchTaken();
      },
      async onEvent({ type, object }) {
        events.onWatchEvent(type);
        backOff.reset();
        const { uid, resourceVersion } = object.metadata;
        if (type === "DELETED") await drop(uid, false, resourceVersion);
        else if (type !== "BOOKMARK") await take(object, false);
        version = resourceVersion;
        noteAnswer();
      },
    });
    isWatching = false;
    events.onWatchEnded(why);
    if (why === "expired" || why === "silent") mustList = true;
    inDoubt = why !== "timeout";
    // A pause prevents a tight loop with a server that accepts watches and ends them at once.
    if (why !== "timeout") await pause(backOff.next(), signal);
  }

  function isAbsent({ code }: ApiError): boolean {
    if (code !== "forbidden") {
      forbiddenSince = undefined;
      return code === "not-found";
    }
    forbiddenSince ??= performance.now();
    return performance.now() - forbiddenSince >= timing.doubtMillis;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        if (inDoubt && version !== "") await compareVersions();
        if (mustList) await list();
        await watch();
      } catch (error) {
        if (signal.aborted) return;
        const failure = error instanceof ApiError ? error : new ApiError("garbage", String(error), { cause: error });
        const absent = isAbsent(failure);
        if (absent || failure.code === "gone") mustList = true;
        inDoubt = true;
        // A server that was away may have been restored from a backup, and may already have a newer version than the last seen one.
        if (failure.code === "unavailable" && failure.status === 0 && !isWatching) tellsAgain = mustList = true;
        isWatching = false;
        // The server's versions have restarted, for example from a backup. Its current state is the newest.
        if (failure.status === GATEWAY_TIMEOUT && version !== "") goBack();
        if (absent) heardAt = performance.now();
        const wait = absent ? timing.absentMillis : backOff.next(failure.retryAfterMillis);
        events.onError(failure, wait, absent);
        await pause(wait, signal);
      }
    }
  }

  const running = run();
  return {
    get listed() {
      return listed;
    },
    get heardAt() {
      return heardAt;
    },
    get objects() {
      return known.size;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
