import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import pLimit from "p-limit";
import type { Viewer } from "../access/viewer.ts";
import type { LedgerVersions } from "./ledger-version.ts";
import { Problem } from "./problem.ts";
import type { Remembered } from "./remembered.ts";

/** A body that is sent at once. */
export interface Body {
  readonly bytes: Buffer;
  readonly type: string;
  /** Headers beside the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answers to requests: from memory while nothing newer was published, else from the store. */
export interface Answers {
  /**
   * Sends the result of `make` from the published ledger, with an ETag of the ledger version; 304 if the client has it. Fails with a
   * {@link Problem} if too many requests wait, and like `make`.
   */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    make: (ledgerVersion: string) => Promise<Body>,
  ): Promise<FastifyReply>;
  /** Sends content that changes within seconds. It is remembered for some seconds. */
  sendLive(
    request: FastifyRequest,
    reply: FastifyReply,
    make: (ledgerVersion: string) => Promise<Body>,
  ): Promise<FastifyReply>;
  /** Returns a part that several answers share, made once for each ledger version and viewer. `rows` returns its number of rows. */
  part<Value extends object>(
    of: { readonly ledgerVersion: string; readonly viewer: Viewer; readonly key: string },
    make: () => Promise<Value>,
    rows: (value: Value) => number,
  ): Promise<Value>;
  /** Returns such a part of a ledger version that may have ended; undefined if it is not remembered. */
  pastPart<Value extends object>(of: {
    readonly ledgerVersion: string;
    readonly viewer: Viewer;
    readonly key: string;
  }): Promise<Value> | undefined;
}

/** The limits of answers that are made at once and that wait. Each is a query of the store. */
const MADE_AT_ONCE = 4;
const MOST_WAITING = 200;
const LIVE_MILLIS = 5_000;
/** The approximate size of a report's row as an object. */
const ROW_BYTES = 3_000;

/** Creates answers from remembered values. */
export function createAnswers(ledgerVersions: LedgerVersions, remembered: Remembered, now: () => number): Answers {
  const limit = pLimit(MADE_AT_ONCE);
  function making<Value>(make: () => Promise<Value>): Promise<Value> {
    if (limit.pendingCount >= MOST_WAITING)
      throw new Problem("busy", `${MOST_WAITING} questions wait for the store already; ask again in a while`);
    return limit(make);
  }
  async function answer(
    ledgerVersion: string,
    request: FastifyRequest,
    reply: FastifyReply,
    make: () => Promise<Body>,
  ): Promise<FastifyReply> {
    const key = `${JSON.stringify(request.viewer)} ${request.url}`;
    const etag = `"${createHash("sha256").update(`${ledgerVersion} ${key}`).digest("base64url").slice(0, 22)}"`;
    void reply
      .header("etag", etag)
      .header("cache-control", "private, no-cache")
      .header("vary", "authorization, cookie");
    if (request.headers["if-none-match"]?.includes(etag) === true) return reply.code(304).send();
    const {
      bytes,
      type,
      headers = {},
    } = await remembered.of(
      ledgerVersion,
      key,
      () => making(make),
      (body) => body.bytes.length,
    );
    return reply.headers(headers).type(type).send(bytes);
  }
  const partKey = ({ viewer, key }: { readonly viewer: Viewer; readonly key: string }): string =>
    `part ${keyOf(viewer)} ${key}`;
  return {
    async send(request, reply, make) {
      const ledgerVersion = await ledgerVersions.current();
      return answer(ledgerVersion, request, reply, () => make(ledgerVersion));
    },
    sendLive: (request, reply, make) =>
      answer(`live ${Math.floor(now() / LIVE_MILLIS)}`, request, reply, async () =>
        make(await ledgerVersions.current()),
      ),
    part: (of, make, rows) => remembered.of(of.ledgerVersion, partKey(of), make, (value) => rows(value) * ROW_BYTES),
    pastPart: (of) => remembered.past(of.ledgerVersion, partKey(of)),
  };
}

/** Returns the part of a viewer on which figures depend: the role and the teams. Pages have the name too. */
function keyOf({ role, teams }: Viewer): string {
  return JSON.stringify([role, teams]);
}

/** Returns an object as the body of an answer. */
export function jsonBody(value: object): Body {
  return { bytes: Buffer.from(JSON.stringify(value)), type: "application/json; charset=utf-8" };
}
