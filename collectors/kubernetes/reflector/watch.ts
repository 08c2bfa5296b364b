import { ApiError, apiErrorOf } from "../api/api-error.ts";
import type { ApiConnection } from "../api/connection.ts";
import { createLineScanner } from "../api/line-scanner.ts";
import { isApiObject, pathOf, type ApiResource, type ApiObject } from "../api/resource.ts";
import type { ReflectorTiming } from "./timing.ts";

/** One line of a watch. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: ApiObject;
}

const TYPES: ReadonlySet<unknown> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]);

/**
 * Watches a resource from a version on until the stream ends. Returns why it ended: by its own timeout; because the version is too old (as
 * a response or as an event in the stream); because it contained something that is not an event (a truncated line, or garbage); or because
 * it was completely silent, without bookmarks: some kinds have no bookmarks, and a watch from a version that the server has not reached is
 * silent too. Events before the end count; the next watch continues from there. Fails with an `ApiError` if the server refuses or the
 * connection breaks. `onTaken` is called once the server has accepted the watch.
 */
export async function watchObjects(options: {
  readonly api: ApiConnection;
  readonly resource: ApiResource;
  readonly query: Readonly<Record<string, string>>;
  readonly from: string;
  readonly timing: ReflectorTiming;
  readonly signal: AbortSignal;
  readonly onTaken: () => void;
  readonly onEvent: (event: WatchEvent) => Promise<void>;
}): Promise<"timeout" | "silent" | "expired" | "garbage"> {
  const { api, resource, query, from, timing, signal, onTaken, onEvent } = options;
  let isTaken = false;
  let isSilent = true;
  try {
    const body = await api.open({
      path: pathOf(resource),
      query: { ...query, watch: "true", allowWatchBookmarks: "true", resourceVersion: from },
      silenceMillis: timing.silenceMillis,
      signal,
    });
    isTaken = true;
    onTaken();
    for await (const event of readWatch(body)) {
      isSilent = false;
      await onEvent(event);
    }
    return isSilent ? "silent" : "timeout";
  } catch (error) {
    if (error instanceof ApiError && error.code === "silent" && isTaken) return "silent";
    if (error instanceof ApiError && error.code === "gone") return "expired";
    if (error instanceof ApiError && error.code === "garbage") return "garbage";
    throw error;
  }
}

/** Yields the events of a stream. Fails with `garbage` at a line that is not an event, and with the error of an ERROR event. */
export async function* readWatch(body: AsyncIterable<Buffer>): AsyncIterable<WatchEvent> {
  const lines = createLineScanner();
  for await (const chunk of body) {
    for (const line of lines.feed(chunk)) yield parseEvent(line);
  }
  if (lines.pendingBytes > 0) throw new ApiError("garbage", "the stream ends in the middle of a line");
}

function parseEvent(line: Buffer): WatchEvent {
  let event: { readonly type?: unknown; readonly object?: unknown };
  try {
    event = JSON.parse(line.toString("utf8")) as typeof event;
  } catch (cause) {
    throw new ApiError("garbage", "the stream has a line that is not JSON", { cause });
  }
  const { type, object } = event;
  if (type === "ERROR") {
    const { code } = (object ?? {}) as { code?: unknown };
    throw apiErrorOf(typeof code === "number" ? code : 500, JSON.stringify(object));
  }
  // A bookmark's object has a version and no identity.
  if (type === "BOOKMARK" && hasVersion(object)) return { type, object };
  if (!TYPES.has(type) || !isApiObject(object))
    throw new ApiError("garbage", "the stream has a line that is not an event");
  return { type: type as WatchEvent["type"], object };
}

function hasVersion(object: unknown): object is ApiObject {
  const { metadata } = (object ?? {}) as { metadata?: { resourceVersion?: unknown } };
  return typeof metadata?.resourceVersion === "string";
}
