import type { ServerResponse } from "node:http";
import type { ListQuery } from "./query.ts";
import { bookmarkText, objectText, type Representation } from "./representation.ts";
import { resourceId, type ApiResource } from "./resources.ts";
import { failure, tooLarge, tooOld, type Status, type StatusError } from "./status.ts";
import { rangeOf, type ObjectStore, type StoreEvent, type Version } from "./store.ts";
import { createWire, type Wire, type WireShape } from "./wire.ts";

/** The behavior of a server's watches. */
export interface WatchRules {
  readonly bookmarkMillis: number;
  /** How a version that is too old is refused: as the answer, or as an event in a stream that began with 200. */
  readonly tooOldAs: "status" | "event";
  /** True if streaming lists are accepted and then fail by an event. */
  readonly failsInitialEvents: boolean;
}

/** An open watch. */
export interface OpenWatch {
  readonly resource: ApiResource;
  readonly namespace: string;
  readonly wire: Wire;
  /** Ends the watch like a server: between two events. */
  close(): void;
}

/** The maximum of unread bytes of a client. A slower client is disconnected, as by real servers. */
const MOST_BACKLOG_BYTES = 64 * 1024 * 1024;
const LEAST_TIMEOUT_SECONDS = 1800;

/**
 * Answers a watch: first the requested state, then every change, until the timeout or until the client disconnects.
 * Fails with a Status before anything is written. `onClose` is called when the watch has ended.
 */
export function openWatch(
  store: ObjectStore,
  resource: ApiResource,
  request: {
    readonly namespace: string;
    readonly query: ListQuery;
    readonly representation: Representation;
    readonly rules: WatchRules;
    readonly shape: WireShape;
  },
  response: ServerResponse,
  onClose: () => void,
): OpenWatch {
  const { namespace, query, representation, rules } = request;
  const refusal = refusalOf(store, query);
  if (refusal !== undefined && (refusal.status.code !== 410 || rules.tooOldAs === "status")) throw refusal;

  response.statusCode = 200;
  response.setHeader("content-type", "application/json");
  response.flushHeaders();
  const wire = createWire(response, request.shape);
  const timers: NodeJS.Timeout[] = [];
  let unfollow = (): void => {};
  let isOver = false;
  let isEnding = false;

  function finish(): void {
    if (isOver) return;
    isOver = true;
    unfollow();
    for (const timer of timers) clearTimeout(timer);
    onClose();
  }
  function close(): void {
    if (isOver) return;
    isEnding = true;
    unfollow();
    void wire.end();
  }
  response.on("close", finish);
  const watch = { resource, namespace, wire, close };

  const push = (text: string): void => {
    void wire.write(text);
    if (wire.backlogBytes > MOST_BACKLOG_BYTES) response.destroy();
  };
  const sendObject = (type: string, version: Version): void => push(eventText(type, resource, version, representation));
  const bookmark = (version: number, endsInitialEvents = false): void =>
    push(bookmarkText(resource, version, representation, endsInitialEvents));
  /** No bookmark while older events wait: a bookmark means that everything before it was sent. */
  const bookmarkNow = (): void => {
    if (waiting === undefined && store.resourceVersion >= (query.resourceVersion ?? 0)) bookmark(store.resourceVersion);
  };

  const problem =
    refusal?.status ?? (query.sendInitialEvents === true && rules.failsInitialEvents ? NO_PROGRESS : undefined);
  if (problem !== undefined) {
    push(errorEvent(problem));
    close();
    return watch;
  }

  const id = resourceId(resource);
  const version = store.resourceVersion;
  const sendsState = query.sendInitialEvents ?? (query.resourceVersion ?? 0) === 0;
  const state = sendsState ? selectedNow(store, id, namespace, query) : [];
  // Changes during the sending of the state wait.
  let waiting: StoreEvent[] | undefined = sendsState ? [] : store.eventsSince(id, query.resourceVersion ?? version);

  function pass(event: StoreEvent): void {
    const { before, after, resourceVersion } = event;
    if (resourceVersion <= (query.resourceVersion ?? 0)) return;
    const object = (after ?? before)!.object;
    if (namespace !== "" && object.namespace !== namespace) return;
    const was = before !== undefined && query.selects(before.object);
    const is = after !== undefined && query.selects(after.object);
    if (is) sendObject(was ? "MODIFIED" : "ADDED", after);
    // An object that is deleted, or no longer selected, is sent as it was, with the version of that change.
    else if (was) sendObject("DELETED", { object: before.object, resourceVersion });
  }
  async function begin(): Promise<void> {
    for (const each of state) {
      if (isOver || isEnding) return;
      await wire.write(eventText("ADDED", resource, each, representation));
    }
    if (query.sendInitialEvents === true && query.allowBookmarks) bookmark(version, true);
    for (const event of waiting ?? []) pass(event);
    waiting = undefined;
  }
  unfollow = store.follow(id, (event) => {
    if (waiting === undefined) pass(event);
    else waiting.push(event);
  });
  void begin();

  // Events have no watch cache, and therefore no bookmarks. A version that the server has not reached has none yet.
  const hasBookmarks = query.allowBookmarks && id !== "events";
  if (hasBookmarks) timers.push(setInterval(bookmarkNow, rules.bookmarkMillis).unref());
  const seconds = query.timeoutSeconds ?? LEAST_TIMEOUT_SECONDS * (1 + Math.random());
  timers.push(
    setTimeout(() => {
      if (hasBookmarks) bookmarkNow();
      close();
    }, seconds * 1000).unref(),
  );
  return watch;
}

/** The event in the stream of a server that cannot get the current version from its etcd. */
const NO_PROGRESS = failure(
  500,
  "InternalError",
  "Internal error occurred: RequestWatchProgress is not supported",
).status;

function refusalOf(store: ObjectStore, { resourceVersion = 0, sendInitialEvents }: ListQuery): StatusError | undefined {
  if (resourceVersion > store.resourceVersion && sendInitialEvents === true)
    return tooLarge(resourceVersion, store.resourceVersion);
  if (resourceVersion === 0 || sendInitialEvents === true || resourceVersion >= store.compactedVersion)
    return undefined;
  return tooOld(resourceVersion, store.compactedVersion);
}

function selectedNow(store: ObjectStore, id: string, namespace: string, { selects }: ListQuery): Version[] {
  const { keys, get } = store.snapshot(id, store.resourceVersion);
  return keys.slice(...rangeOf(keys, namespace)).flatMap((key) => {
    const version = get(key)!;
    return selects(version.object) ? version : [];
  });
}

function eventText(type: string, resource: ApiResource, version: Version, representation: Representation): string {
  return `{"type":"${type}","object":${objectText(resource, version, representation)}}\n`;
}

function errorEvent(status: Status): string {
  return `{"type":"ERROR","object":${JSON.stringify(status)}}\n`;
}

/** The event for a watch whose next versions the server no longer has. */
export function goneEvent(): string {
  return errorEvent(failure(410, "Expired", "The resourceVersion for the provided watch is too old.").status);
}
