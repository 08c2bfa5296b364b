import type { ServerResponse } from "node:http";
import type { ListQuery } from "./query.ts";
import { bookmarkText, objectText, type Representation } from "./representation.ts";
import { resourceId, type ApiResource } from "./resources.ts";
import { failure, tooLarge, tooOld, type Status, type StatusError } from "./status.ts";
import { rangeOf, type ObjectStore, type StoreEvent, type Version } from "./store.ts";
import { createWire, type Wire, type WireShape } from "./wire.ts";

/** How watches of a server go. */
export interface WatchRules {
  readonly bookmarkMillis: number;
  /** How a version that is too old is refused: as the answer, or as an event of a stream that began with 200. */
  readonly tooOldAs: "status" | "event";
  /** Whether streaming lists are taken, and then fail by an event. */
  readonly failsInitialEvents: boolean;
}

/** A watch that is open. */
export interface OpenWatch {
  readonly resource: ApiResource;
  readonly namespace: string;
  readonly wire: Wire;
  /** Ends it as a server does: between two events. */
  close(): void;
}

/** A client that has left so much unread is cut off, as real servers do with one that is too slow. */
const MOST_BACKLOG_BYTES = 64 * 1024 * 1024;
const LEAST_TIMEOUT_SECONDS = 1800;

/**
 * Answers a watch: what was asked for first, then every change as it comes, until the time is up or the client goes.
 * Fails with a Status before anything was written; `onClose` is called once it is over.
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
  /** None while older events wait: a bookmark says that everything before it has been told. */
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
  // What happens while the state goes out waits for its turn.
  let waiting: StoreEvent[] | undefined = sendsState ? [] : store.eventsSince(id, query.resourceVersion ?? version);

  function pass(event: StoreEvent): void {
    const { before, after, resourceVersion } = event;
    if (resourceVersion <= (query.resourceVersion ?? 0)) return;
    const object = (after ?? before)!.object;
    if (namespace !== "" && object.namespace !== namespace) return;
    const was = before !== undefined && query.selects(before.object);
    const is = after !== undefined && query.selects(after.object);
    if (is) sendObject(was ? "MODIFIED" : "ADDED", after);
    // What is deleted, or no longer selected, is told as it was, under the version at which that happened.
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

  // Events have no watch cache, and so no bookmarks; a version that the server has not reached has none yet.
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

/** What a server's stream has that cannot ask its etcd how far it has come. */
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

/** The event that tells a watch that its server has forgotten what it needs to go on. */
export function goneEvent(): string {
  return errorEvent(failure(410, "Expired", "The resourceVersion for the provided watch is too old.").status);
}
