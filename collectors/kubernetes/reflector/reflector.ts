import { pause } from "../../../runtime/clock.ts";
import { ApiError } from "../api/api-error.ts";
import { createApiBackOff } from "../api/api-back-off.ts";
import type { ApiConnection } from "../api/connection.ts";
import type { ApiResource, ApiObject } from "../api/resource.ts";
import { listObjects, newestVersion } from "./list.ts";
import { REFLECTOR_TIMING, type ReflectorTiming } from "./timing.ts";
import { watchObjects } from "./watch.ts";

/** What a reflector tells of its resource's objects, one at a time: it waits for each returned promise. */
export interface ObjectSink {
  /** An object as it is now. `listed` where it came with a list, and may be known already. */
  onObject(object: ApiObject, seen: { readonly atMillis: number; readonly listed: boolean }): Promise<void> | void;
  /**
   * An object is gone. `inferred` where a list lacked it: it went at some time since the server was heard last, which is
   * the time then.
   */
  onGone(gone: ObjectIdentity, seen: { readonly atMillis: number; readonly inferred: boolean }): Promise<void> | void;
  /** A list has been told in full: whatever was not in it is gone. */
  onListed(objects: number): Promise<void> | void;
}

/** What tells an object from another one of the same name. */
export interface ObjectIdentity {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
}

/** What happens to a reflector, for metrics and logs. */
export interface ReflectorEvents {
  onListStarted(): void;
  onWatchEvent(type: string): void;
  /** The server has taken a watch. */
  onWatchTaken(): void;
  /** A watch ended. `expired` and `silent` mean a new list, `garbage` that the stream held something that is no event. */
  onWatchEnded(why: "timeout" | "silent" | "expired" | "garbage" | "failed"): void;
  /**
   * It is tried again after `againInMillis`. `isAbsent` where the resource is not there, or is forbidden and has been for
   * longer than a server takes to start.
   */
  onError(error: ApiError, againInMillis: number, isAbsent: boolean): void;
  /** The server's versions have gone back, as after a restore of its database. All objects are told again. */
  onVersionsBack(): void;
}

/** A running reflector. */
export interface Reflector {
  /** Whether a list has been told in full since the start. */
  readonly listed: boolean;
  readonly objects: number;
  /**
   * When the server said anything last, by the monotonic clock: a list, a watch that it took, an event; or that it has no such
   * resource, or that this one may not be read.
   */
  readonly heardAt: number;
  stop(): Promise<void>;
}

/** Whether a version is older than another; versions that are no numbers cannot be compared. */
function isOlder(version: string, than: string): boolean {
  return /^\d+$/.test(version) && /^\d+$/.test(than) && BigInt(version) < BigInt(than);
}

/** What a list gets whose `resourceVersion` the server has not reached, and does not reach in time. */
const GATEWAY_TIMEOUT = 504;

/**
 * Follows all objects of one resource: lists them, watches from the list's resourceVersion, and lists again where the
 * server no longer knows that version or was silent. A list is never older than what was seen, unless the versions of the server
 * went back. Objects are told from each other by their UIDs.
 * Nothing of an object is kept but its identity. Whatever goes wrong is told and tried again with growing pauses; nothing
 * but `stop` ends it.
 */
export function startReflector(options: {
  readonly api: ApiConnection;
  readonly resource: ApiResource;
  /** For example `spec.nodeName!=`; all objects where absent. */
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
  /** When the server last said what is, by its clock. */
  let heardAtMillis = 0;
  let heardAt = performance.now();
  let mustList = true;
  /** Whether the server's versions may have gone back: a server that was away can have come back from a backup. */
  let inDoubt = false;
  /** Whether a version that is known can be of something else: versions went back. */
  let tellsAgain = false;
  let isWatching = false;
  let streamsLists = true;
  /** Since when everything was forbidden, by the monotonic clock. */
  let forbiddenSince: number | undefined;

  function hear(): void {
    heardAtMillis = api.clock.nowMillis();
    heardAt = performance.now();
  }

  async function take(object: ApiObject, isListed: boolean): Promise<void> {
    const { uid, namespace = "", name, resourceVersion } = object.metadata;
    // A list after the first tells what is known already; only what has changed meanwhile is news.
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

  /** Forgets the versions that were seen where the server has not come so far. */
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
    hear();
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
        hear();
      },
    });
    isWatching = false;
    events.onWatchEnded(why);
    if (why === "expired" || why === "silent") mustList = true;
    inDoubt = why !== "timeout";
    // A server that takes watches and ends them at once must not be asked in a circle.
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
        // A server that was away can have come back from a backup, and have come further since than what was seen.
        if (failure.code === "unavailable" && failure.status === 0 && !isWatching) tellsAgain = mustList = true;
        isWatching = false;
        // The server's versions have begun anew, from a backup for one: what it has now is the newest there is.
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
