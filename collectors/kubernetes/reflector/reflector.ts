import { pause } from "../../../runtime/clock.ts";
import { ApiError } from "../api/api-error.ts";
import { createBackOff } from "../api/back-off.ts";
import type { ApiConnection } from "../api/connection.ts";
import type { ApiResource, ApiObject } from "../api/resource.ts";
import { listObjects } from "./list.ts";
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
  /** A watch ended. `expired` means a new list, `garbage` that the stream held something that is no event. */
  onWatchEnded(why: "timeout" | "expired" | "garbage" | "failed"): void;
  /** It is tried again after `againInMillis`. */
  onError(error: ApiError, againInMillis: number): void;
}

/** A running reflector. */
export interface Reflector {
  /** Whether a list has been told in full since the start. */
  readonly listed: boolean;
  readonly objects: number;
  stop(): Promise<void>;
}

/** What a list gets whose `resourceVersion` the server has not reached, and does not reach in time. */
const GATEWAY_TIMEOUT = 504;

/**
 * Follows all objects of one resource: lists them, watches from the list's resourceVersion, and lists again where the
 * server no longer knows that version, never older than what was seen. Objects are told from each other by their UIDs.
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
  const backOff = createBackOff(random);
  const known = new Map<string, ObjectIdentity>();
  let listed = false;
  /** The newest version seen; empty before the first list. */
  let version = "";
  /** When the server last said what is, by its clock. */
  let heardAtMillis = 0;
  let mustList = true;
  let streamsLists = true;

  async function take(object: ApiObject, isListed: boolean): Promise<void> {
    const { uid, namespace = "", name, resourceVersion } = object.metadata;
    // A list after the first tells what is known already; only what has changed meanwhile is news.
    if (isListed && known.get(uid)?.resourceVersion === resourceVersion) return;
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
    for (const uid of known.keys()) if (!seen.has(uid)) await drop(uid, true);
    heardAtMillis = api.clock.nowMillis();
    mustList = false;
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
      async onEvent({ type, object }) {
        events.onWatchEvent(type);
        backOff.reset();
        const { uid, resourceVersion } = object.metadata;
        if (type === "DELETED") await drop(uid, false, resourceVersion);
        else if (type !== "BOOKMARK") await take(object, false);
        version = resourceVersion;
        heardAtMillis = api.clock.nowMillis();
      },
    });
    events.onWatchEnded(why);
    if (why === "expired") mustList = true;
    // A server that takes watches and ends them at once must not be asked in a circle.
    if (why !== "timeout") await pause(backOff.next(), signal);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        if (mustList) await list();
        await watch();
      } catch (error) {
        if (signal.aborted) return;
        const failure = error instanceof ApiError ? error : new ApiError("garbage", String(error), { cause: error });
        const absent = failure.code === "forbidden" || failure.code === "not-found";
        if (absent || failure.code === "gone") mustList = true;
        // The server's versions have begun anew, from a backup for one: what it has now is the newest there is.
        if (failure.status === GATEWAY_TIMEOUT) version = "";
        const wait = absent ? timing.absentMillis : backOff.next(failure.retryAfterMillis);
        events.onError(failure, wait);
        await pause(wait, signal);
      }
    }
  }

  const running = run();
  return {
    get listed() {
      return listed;
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
