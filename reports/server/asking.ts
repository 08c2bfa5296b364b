import { setMaxListeners } from "node:events";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { StoreClient } from "../../runtime/store/client.ts";
import { QUERY_LIMITS } from "../access/query-limits.ts";
import { OPEN, type Viewer } from "../access/viewer.ts";

/** A question while it is being answered. */
export interface Asking {
  readonly ledgerVersion: string;
  readonly viewer: Viewer;
  /** The name by which slots and quotas are counted. */
  readonly caller: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** The store for this question. Its queries are limited, and stop with `signal`. */
  readonly store: StoreClient;
}

/** Returns a signal that is aborted when the client of a request has disconnected, or has the whole answer. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = abortable();
  if (raw.destroyed) gone.abort();
  else raw.once("close", () => gone.abort());
  return gone.signal;
}

/** Returns a controller whose signal many queries can share. */
export function abortable(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/**
 * Returns the name by which slots and quotas are counted: the name of the token, the subject of the person, or the address if there are no
 * tokens. People can choose their names at some issuers, also the name of a token.
 */
export function callerOf({ viewer, ip }: Pick<FastifyRequest, "viewer" | "ip">): string {
  if (viewer === OPEN) return ip;
  return viewer.subject === undefined ? viewer.name : `person ${viewer.subject}`;
}

/** Returns the details of an export for the audit trail: the address, and the subject of a person, whose name is not unique. */
export function detailsOf({ viewer, ip }: Pick<FastifyRequest, "viewer" | "ip">): Readonly<Record<string, string>> {
  return { address: ip, ...(viewer.subject === undefined ? {} : { person: viewer.subject }) };
}

/** Returns the store for the queries of a caller. */
export function storeFor(store: StoreClient, caller: string, signal: AbortSignal): StoreClient {
  return store.bounded({ caller, settings: QUERY_LIMITS, signal });
}
