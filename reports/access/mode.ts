import { isLoopback } from "../../runtime/http/loopback.ts";

/** The access to a server: `open` to everybody who reaches it, which is this machine alone, or only with `tokens`. */
export type AccessMode = "open" | "tokens";

/** A configuration that would serve reports to everybody. The message contains the remedy. */
export class AccessError extends Error {
  readonly code = "no-authentication";
  readonly retriable = false;

  constructor(message: string) {
    super(message);
    this.name = "AccessError";
  }
}

/**
 * Returns the access mode of a server on an address (`host:port`). Fails with an {@link AccessError} if the server would serve everybody.
 */
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
    `refuses to start without authentication: other machines can reach ${listen} (server.listen), and there is no token. ` +
      "Create one with `gpu-ledger token create NAME --role administrator --for-config` and put its output into the " +
      "configuration, or listen on 127.0.0.1",
  );
}
