import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Viewer } from "../access/viewer.ts";
import type { RecordAudit } from "../access/audit.ts";
import { callerOf, detailsOf, goneSignal, storeFor, type Asking } from "./asking.ts";
import type { LedgerVersions } from "./ledger-version.ts";
import type { Ages, Remembered } from "./remembered.ts";
import { createSlots } from "./slots.ts";

/** A body that is sent at once. */
export interface Body {
  readonly bytes: Buffer;
  readonly type: string;
  /** The name under which a browser keeps the body as a file; shown in the browser if absent. */
  readonly name?: string;
  /** Headers beside the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the audit trail, if the body is an export: its question and its number of rows. */
  readonly exported?: { readonly subject: string; readonly rows: number };
}

/** The answers to requests: from memory while nothing newer was published, else from the store. */
export interface Answers {
  /**
   * Sends the result of `make` from the published ledger, with an ETag of the ledger version; 304 if the client has it. Fails with a
   * {@link Problem} if too many requests wait, and like `make`.
   */
  send(request: FastifyRequest, reply: FastifyReply, make: (asking: Asking) => Promise<Body>): Promise<FastifyReply>;
  /** Sends content that changes within seconds. It is remembered for some seconds. */
  sendLive(
    request: FastifyRequest,
    reply: FastifyReply,
    make: (asking: Asking) => Promise<Body>,
  ): Promise<FastifyReply>;
  /** Returns a part that several answers share, made once for each ledger version and viewer. `rows` returns its number of rows. */
  part<Value extends object>(
    asking: Asking,
    key: string,
    make: (store: StoreClient) => Promise<Value>,
    rows: (value: Value) => number,
  ): Promise<Value>;
  /**
   * Returns a part that may be as old as its ages allow, for what people look at again and again. It is made for each viewer, whatever the ledger
   * version.
   */
  recentPart<Value extends object>(
    asking: Omit<Asking, "ledgerVersion">,
    of: { readonly key: string; readonly ages?: Ages },
    make: (store: StoreClient) => Promise<Value>,
    rows: (value: Value) => number,
  ): Promise<Value>;
  /** Returns such a part of a ledger version that may have ended; undefined if it is not remembered. */
  pastPart<Value extends object>(of: {
    readonly ledgerVersion: string;
    readonly viewer: Viewer;
    readonly key: string;
  }): Promise<Value> | undefined;
  /** Lets the next answers have a change that this server made. */
  forgetVersion(): void;
  /**
   * Returns the store for a file that is sent while it is read. Each of its reads has a slot of its own, so files of many callers progress
   * together.
   */
  storeForFile(request: FastifyRequest, reply: FastifyReply): StoreClient;
}

/** Slots for answers and for portions of files. */
const SLOTS = { atOnce: 4, ofCaller: 2, waiting: 100 };
/** A portion of a file needs one of these slots first, so that at most half of the slots have files. */
const FILE_SLOTS = { atOnce: 2, ofCaller: 1, waiting: 100 };
/** For a usual portion, this is 100 KiB in a second. */
const PORTION_MILLIS = 120_000;
const LIVE_MILLIS = 5_000;
/** The ages of names, and of sums of the last day. */
const RECENT: Ages = { fresh: 60_000, stale: 600_000 };
/** The longest subject in the audit trail of a page, whose address the client chooses. */
const LONGEST_SUBJECT = 500;
/** The approximate size of a report's row as an object. */
const ROW_BYTES = 3_000;

/** Creates answers from remembered values. */
export function createAnswers(parts: {
  readonly store: StoreClient;
  readonly ledgerVersions: LedgerVersions;
  readonly remembered: Remembered;
  /** Records exports in the audit trail. */
  readonly record: RecordAudit;
  readonly now: () => number;
  /** The time in which a client must read a portion of a file, because the portion has a slot. */
  readonly portionMillis?: number;
}): Answers {
  const { store, ledgerVersions, remembered, record, now, portionMillis = PORTION_MILLIS } = parts;
  const slots = createSlots(SLOTS);
  const fileSlots = createSlots(FILE_SLOTS);

  async function answer(
    ledgerVersion: string,
    request: FastifyRequest,
    reply: FastifyReply,
    make: (asking: Omit<Asking, "ledgerVersion">) => Promise<Body>,
  ): Promise<FastifyReply> {
    const { viewer } = request;
    const caller = callerOf(request);
    const gone = goneSignal(reply);
    const key = `${JSON.stringify(viewer)} ${request.url}`;
    const etag = `"${createHash("sha256").update(`${ledgerVersion} ${key}`).digest("base64url").slice(0, 22)}"`;
    void reply
      .header("etag", etag)
      .header("cache-control", "private, no-cache")
      .header("vary", "authorization, cookie");
    if (request.headers["if-none-match"]?.includes(etag) === true) return reply.code(304).send();
    const {
      bytes,
      type,
      name,
      headers = {},
      exported,
    } = await remembered.of(
      { ledgerVersion, key, signal: gone },
      (signal) =>
        slots.run(caller, () => make({ viewer, caller, signal, store: storeFor(store, caller, signal) }), signal),
      (body) => body.bytes.length,
    );
    const isExport = exported ?? laterPage(request);
    if (isExport !== undefined) {
      const { subject, ...rows } = isExport;
      const details = { ...detailsOf(request), bytes: bytes.length, isComplete: true, ...rows };
      // In a slot too: an answer from memory costs nothing else, and a crowd of entries would delay the store for everybody.
      await slots.run(caller, () => record({ who: viewer.name, what: "export", subject, details }), gone);
    }
    if (name !== undefined) void reply.header("content-disposition", `attachment; filename="${name}"`);
    return reply.headers(headers).type(type).send(bytes);
  }
  const partKey = ({ viewer, key }: { readonly viewer: Viewer; readonly key: string }): string =>
    `part ${keyOf(viewer)} ${key}`;
  return {
    async send(request, reply, make) {
      const ledgerVersion = await ledgerVersions.current();
      return answer(ledgerVersion, request, reply, (asking) => make({ ...asking, ledgerVersion }));
    },
    sendLive: (request, reply, make) =>
      answer(`live ${Math.floor(now() / LIVE_MILLIS)}`, request, reply, async (asking) =>
        make({ ...asking, ledgerVersion: await ledgerVersions.current() }),
      ),
    part: ({ ledgerVersion, viewer, caller, signal: waiting }, key, make, rows) =>
      remembered.of(
        { ledgerVersion, key: partKey({ viewer, key }), signal: waiting },
        (signal) => make(storeFor(store, caller, signal)),
        (value) => rows(value) * ROW_BYTES,
      ),
    recentPart: ({ viewer, caller, signal: waiting }, { key, ages = RECENT }, make, rows) =>
      remembered.recent(
        { key: partKey({ viewer, key }), signal: waiting, ages },
        (signal) => make(storeFor(store, caller, signal)),
        (value) => rows(value) * ROW_BYTES,
      ),
    forgetVersion: () => ledgerVersions.forget(),
    pastPart: (of) => remembered.past(of.ledgerVersion, partKey(of)),
    storeForFile(request, reply) {
      const [caller, gone] = [callerOf(request), goneSignal(reply)];
      const bounded = storeFor(store, caller, gone);
      const hold = { signal: gone, mostMillis: portionMillis };
      const portion = (...asked: Parameters<StoreClient["bytes"]>) =>
        slots.iterate(caller, (signal) => storeFor(store, caller, signal).bytes(...asked), hold);
      return {
        ...bounded,
        query: (sql, parameters) => slots.run(caller, () => bounded.query(sql, parameters), gone),
        bytes: (...asked) => fileSlots.iterate(caller, () => portion(...asked), hold),
      };
    },
  };
}

/** Returns the part of a viewer on which figures depend: the role and the teams. Pages have the name too. */
function keyOf({ role, teams }: Viewer): string {
  return JSON.stringify([role, teams]);
}

/** Returns a page of rows after the first one as an export: a client that follows the pages takes all rows. */
function laterPage({ url, query }: FastifyRequest): { readonly subject: string } | undefined {
  if ((query as { readonly cursor?: unknown }).cursor === undefined) return undefined;
  const { pathname, searchParams } = new URL(url, "http://server.invalid");
  searchParams.delete("cursor");
  return { subject: `page of ${pathname}?${searchParams.toString()}`.slice(0, LONGEST_SUBJECT) };
}

/** Returns an object as the body of an answer. */
export function jsonBody(value: object): Body {
  return { bytes: Buffer.from(JSON.stringify(value)), type: "application/json; charset=utf-8" };
}
