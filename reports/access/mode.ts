import { isLoopback } from "./loopback.ts";

/** Whom a server serves: everybody who reaches it, which is this machine alone, or whoever has a token. */
export type AccessMode = "open" | "tokens";

/** A server that would serve reports to everybody. The message says what to do about it. */
export class AccessError extends Error {
  readonly code = "no-authentication";
  readonly retriable = false;

  constructor(message: string) {
    super(message);
    this.name = "AccessError";
  }
}

/** How a server on an address (`host:port`) is to be served. Fails with an {@link AccessError} where that would be to everybody. */
export function accessMode({
  listen,
  hasTokens,
}: {
  readonly listen: string;
  readonly hasTokens: boolean;
}): AccessMode {
  if (hasTokens) return "tokens";
  if (isLoopback(listen)) return "open";
  throw new AccessError(
    `refuses to start without authentication: other machines reach ${listen} (server.listen), and there is no token. ` +
      "Make one with `gpu-ledger token create NAME --role administrator --for-config` and put what it prints into the " +
      "configuration, or listen on 127.0.0.1",
  );
}
