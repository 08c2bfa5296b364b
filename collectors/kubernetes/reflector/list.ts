import { ApiError } from "../api/api-error.ts";
import type { ApiConnection } from "../api/connection.ts";
import { createListScanner } from "../api/list-scanner.ts";
import { isApiObject, pathOf, type ApiResource, type ApiObject } from "../api/resource.ts";
import type { ReflectorTiming } from "./timing.ts";
import { readWatch } from "./watch.ts";

/** The parameters of a list, and the receiver of its objects. */
export interface Listing {
  readonly api: ApiConnection;
  readonly resource: ApiResource;
  readonly selectors: Readonly<Record<string, string>>;
  readonly timing: ReflectorTiming;
  readonly signal: AbortSignal;
  /** The media type of the list's pages; whole objects by default. */
  readonly accept?: string;
  /** The newest version seen; empty for the first list. */
  readonly notOlderThan: string;
  /** True to try a streaming list first. */
  readonly streaming: boolean;
  /** Called when the list begins or restarts. Objects that were delivered before do not count. */
  readonly onStart: () => void;
  readonly onObject: (object: ApiObject) => Promise<void>;
}

/**
 * Delivers every object of a resource and resolves with the version to watch from. A server that supports it streams the list as the
 * beginning of a watch. Otherwise the first list comes in pages, and a later one in one body from the server's cache, not older than the
 * last seen version: with pages it would come from the database each time (https://github.com/kubernetes/kubernetes/issues/118394). If a
 * page's token has expired, the list is delivered again in one body. A list is never in memory as a whole: objects are cut out of it as it
 * arrives. If a server accepts a streaming list and cannot serve it (an ERROR event, or silence), pages are used, and no other streaming
 * list is requested.
 */
export async function listObjects(
  listing: Listing,
): Promise<{ readonly resourceVersion: string; readonly streamed: boolean }> {
  if (listing.streaming) {
    try {
      return { resourceVersion: await streamList(listing), streamed: true };
    } catch (error) {
      if (!(error instanceof ApiError) || !(error.code === "rejected" || error.code === "silent")) throw error;
    }
  }
  return { resourceVersion: await pageList(listing), streamed: false };
}

/** The annotation of the bookmark that ends a streaming list (KEP-3157). */
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

async function streamList(listing: Listing): Promise<string> {
  const { api, resource, selectors, timing, signal, notOlderThan, onStart, onObject } = listing;
  onStart();
  const events = readWatch(
    await api.open({
      path: pathOf(resource),
      query: {
        ...selectors,
        watch: "true",
        allowWatchBookmarks: "true",
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
        ...(notOlderThan === "" ? {} : { resourceVersion: notOlderThan }),
      },
      silenceMillis: timing.silenceMillis,
      signal,
    }),
  );
  try {
    for await (const { type, object } of events) {
      if (type !== "BOOKMARK") await onObject(object);
      else if (object.metadata.annotations?.[INITIAL_EVENTS_END] === "true") return object.metadata.resourceVersion;
    }
  } catch (error) {
    // An error in the stream itself concerns streaming. A broken connection can happen to any request.
    const hasStatus = error instanceof ApiError && error.status > 0;
    throw hasStatus ? new ApiError("rejected", error.message, { status: error.status, cause: error }) : error;
  }
  throw new ApiError("unavailable", "the streaming list ended before it was complete");
}

async function pageList(listing: Listing): Promise<string> {
  const { notOlderThan, timing, onStart } = listing;
  onStart();
  if (notOlderThan !== "") {
    const cached = { resourceVersion: notOlderThan, resourceVersionMatch: "NotOlderThan" };
    return (await readPage(listing, cached)).resourceVersion;
  }
  const limit = String(timing.pageSize);
  let page = await readPage(listing, { limit });
  try {
    while (page.continue !== "") page = await readPage(listing, { limit, continue: page.continue });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "gone") throw error;
    onStart();
    page = await readPage(listing, {});
  }
  return page.resourceVersion;
}

/** Returns the newest version that the server has now. */
export async function newestVersion(
  listing: Pick<Listing, "api" | "resource" | "selectors" | "timing" | "signal">,
): Promise<string> {
  const ignored = { notOlderThan: "", streaming: false, onStart: () => {}, onObject: () => Promise.resolve() };
  return (await readPage({ ...listing, ...ignored }, { limit: "1" })).resourceVersion;
}

interface PageEnd {
  readonly resourceVersion: string;
  readonly continue: string;
}

async function readPage(listing: Listing, query: Readonly<Record<string, string>>): Promise<PageEnd> {
  const { api, resource, selectors, timing, signal, accept, onObject } = listing;
  const scanner = createListScanner();
  const body = await api.open({
    path: pathOf(resource),
    query: { ...selectors, ...query },
    silenceMillis: timing.silenceMillis,
    signal,
    ...(accept === undefined ? {} : { accept }),
  });
  for await (const chunk of body) for (const item of scanner.feed(chunk)) await onObject(parseObject(item));
  return readEnd(() => scanner.rest());
}

function parseObject(item: Buffer): ApiObject {
  let object: unknown;
  try {
    object = JSON.parse(item.toString("utf8"));
  } catch (cause) {
    throw new ApiError("garbage", "a list has an entry that is not JSON", { cause });
  }
  if (!isApiObject(object)) throw new ApiError("garbage", "a list has an entry that is not an object");
  return object;
}

function readEnd(rest: () => unknown): PageEnd {
  try {
    const { metadata } = rest() as { metadata?: { resourceVersion?: unknown; continue?: unknown } };
    const { resourceVersion, continue: token = "" } = metadata ?? {};
    if (typeof resourceVersion === "string" && typeof token === "string") return { resourceVersion, continue: token };
  } catch (cause) {
    throw new ApiError("garbage", "the list is not complete", { cause });
  }
  throw new ApiError("garbage", "the list has no resourceVersion");
}
