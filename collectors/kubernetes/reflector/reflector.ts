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

/** The dependencies of a reflector. */
export interface ReflectorOptions {
  readonly api: ApiConnection;
  readonly resource: ApiResource;
  /** For example `spec.nodeName!=`; all objects if absent. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  readonly sink: ObjectSink;
  readonly events: ReflectorEvents;
  readonly timing?: ReflectorTiming;
  readonly random?: () => number;
}

/** A reflector's dependencies, and how far it is. */
interface ReflectorState {
  readonly api: ApiConnection;
  readonly resource: ApiResource;
  readonly selectors: Readonly<Record<string, string>>;
  readonly sink: ObjectSink;
  readonly events: ReflectorEvents;
  readonly timing: ReflectorTiming;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly backOff: ReturnType<typeof createApiBackOff>;
  readonly known: Map<string, ObjectIdentity>;
  listed: boolean;
  /** The newest version seen; empty before the first list. */
  version: string;
  /** The time of the server's last report of state, by its clock, and by the monotonic clock. */
  heardAtMillis: number;
  heardAt: number;
  mustList: boolean;
  /** True if the server's versions may have gone back: a server that was away may have been restored from a backup. */
  inDoubt: boolean;
  /** True if known versions may have other content, because versions went back. */
  tellsAgain: boolean;
  isWatching: boolean;
  streamsLists: boolean;
  /** Since when everything has been forbidden, by the monotonic clock. */
  forbiddenSince: number | undefined;
}

/**
 * Follows all objects of one resource: lists them, watches from the list's resourceVersion, and lists again if the server no longer has
 * that version or was silent. A list is never older than the last seen version, unless the versions of the server went back. Objects are
 * identified by UID.
 *
 * Only the identity of an object is kept. Every failure is reported and retried with growing pauses. Only `stop` ends the reflector.
 */
export function startReflector(options: ReflectorOptions): Reflector {
  const { api, resource, sink, events, timing = REFLECTOR_TIMING, random = Math.random } = options;
  const stopping = new AbortController();
  const state: ReflectorState = {
    api,
    resource,
    selectors: {
      ...(options.fieldSelector === undefined ? {} : { fieldSelector: options.fieldSelector }),
      ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
    },
    sink,
    events,
    timing,
    random,
    signal: stopping.signal,
    backOff: createApiBackOff(random),
    known: new Map(),
    listed: false,
    version: "",
    heardAtMillis: 0,
    heardAt: performance.now(),
    mustList: true,
    inDoubt: false,
    tellsAgain: false,
    isWatching: false,
    streamsLists: true,
    forbiddenSince: undefined,
  };
  const running = run(state);
  return {
    get listed() {
      return state.listed;
    },
    get heardAt() {
      return state.heardAt;
    },
    get objects() {
      return state.known.size;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function run(state: ReflectorState): Promise<void> {
  const { signal, events } = state;
  while (!signal.aborted) {
    try {
      if (state.inDoubt && state.version !== "") await compareVersions(state);
      if (state.mustList) await list(state);
      await watch(state);
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof ApiError ? error : new ApiError("garbage", String(error), { cause: error });
      const { wait, absent } = noteFailure(state, failure);
      events.onError(failure, wait, absent);
      await pause(wait, signal);
    }
  }
}

/** Decides what a failure means for the next attempt, and how long to wait. */
function noteFailure(state: ReflectorState, failure: ApiError): { readonly wait: number; readonly absent: boolean } {
  const { timing, backOff } = state;
  const absent = isAbsent(state, failure);
  if (absent || failure.code === "gone") state.mustList = true;
  state.inDoubt = true;
  // A server that was away may have been restored from a backup, and may already have a newer version than the last seen one.
  if (failure.code === "unavailable" && failure.status === 0 && !state.isWatching)
    state.tellsAgain = state.mustList = true;
  state.isWatching = false;
  // The server's versions have restarted, for example from a backup. Its current state is the newest.
  if (failure.status === GATEWAY_TIMEOUT && state.version !== "") goBack(state);
  if (absent) state.heardAt = performance.now();
  return { wait: absent ? timing.absentMillis : backOff.next(failure.retryAfterMillis), absent };
}

function isAbsent(state: ReflectorState, { code }: ApiError): boolean {
  if (code !== "forbidden") {
    state.forbiddenSince = undefined;
    return code === "not-found";
  }
  state.forbiddenSince ??= performance.now();
  return performance.now() - state.forbiddenSince >= state.timing.doubtMillis;
}

/** Drops the seen versions if the server's newest version is older. */
async function compareVersions(state: ReflectorState): Promise<void> {
  const newest = await newestVersion(state);
  state.inDoubt = false;
  if (isOlder(newest, state.version)) goBack(state);
}

function goBack(state: ReflectorState): void {
  state.version = "";
  state.mustList = true;
  state.tellsAgain = true;
  state.events.onVersionsBack();
}

async function list(state: ReflectorState): Promise<void> {
  const { api, resource, selectors, timing, signal, events, sink, known, backOff } = state;
  events.onListStarted();
  const seen = new Set<string>();
  const outcome = await listObjects({
    api,
    resource,
    selectors,
    timing,
    signal,
    notOlderThan: state.version,
    streaming: state.streamsLists,
    onStart: () => seen.clear(),
    async onObject(object) {
      seen.add(object.metadata.uid);
      await take(state, object, true);
    },
  });
  state.streamsLists = outcome.streamed;
  state.version = outcome.resourceVersion;
  backOff.reset();
  state.forbiddenSince = undefined;
  for (const uid of known.keys()) if (!seen.has(uid)) await drop(state, uid, true);
  noteAnswer(state);
  state.mustList = false;
  state.tellsAgain = false;
  state.listed = true;
  await sink.onListed(known.size);
}

async function watch(state: ReflectorState): Promise<void> {
  const { api, resource, selectors, timing, signal, events, backOff, random } = state;
  const seconds = Math.round(timing.watchSeconds * (1 + random()));
  const why = await watchObjects({
    api,
    resource,
    query: { ...selectors, timeoutSeconds: String(seconds) },
    from: state.version,
    timing,
    signal,
    onTaken() {
      state.isWatching = true;
      state.forbiddenSince = undefined;
      state.heardAt = performance.now();
      events.onWatchTaken();
    },
    async onEvent({ type, object }) {
      events.onWatchEvent(type);
      backOff.reset();
      const { uid, resourceVersion } = object.metadata;
      if (type === "DELETED") await drop(state, uid, false, resourceVersion);
      else if (type !== "BOOKMARK") await take(state, object, false);
      state.version = resourceVersion;
      noteAnswer(state);
    },
  });
  state.isWatching = false;
  events.onWatchEnded(why);
  if (why === "expired" || why === "silent") state.mustList = true;
  state.inDoubt = why !== "timeout";
  // A pause prevents a tight loop with a server that accepts watches and ends them at once.
  if (why !== "timeout") await pause(backOff.next(), signal);
}

function noteAnswer(state: ReflectorState): void {
  state.heardAtMillis = state.api.clock.nowMillis();
  state.heardAt = performance.now();
}

async function take(
  { api, known, sink, tellsAgain }: ReflectorState,
  object: ApiObject,
  isListed: boolean,
): Promise<void> {
  const { uid, namespace = "", name, resourceVersion } = object.metadata;
  // A list after the first contains known objects. Only objects that have changed are delivered.
  if (isListed && !tellsAgain && known.get(uid)?.resourceVersion === resourceVersion) return;
  await sink.onObject(object, { atMillis: api.clock.nowMillis(), listed: isListed });
  known.set(uid, { uid, namespace, name, resourceVersion });
}

async function drop(
  { api, known, sink, heardAtMillis }: ReflectorState,
  uid: string,
  inferred: boolean,
  last?: string,
): Promise<void> {
  const identity = known.get(uid);
  if (identity === undefined) return;
  const gone = last === undefined ? identity : { ...identity, resourceVersion: last };
  await sink.onGone(gone, { atMillis: inferred ? heardAtMillis : api.clock.nowMillis(), inferred });
  known.delete(uid);
}
