import type { IncomingHttpHeaders } from "node:http";
import { isLoopback } from "./loopback.ts";

/** The reason why a request is refused: it came under another name, or from a page of another site. */
export type ForeignRequest = "foreign host" | "foreign origin";

/** A port that guards itself against pages of other sites in the browsers of its users. */
export interface GuardedPort {
  /** `host:port`, or the host alone. */
  readonly listen: string;
  /** True if the port serves everybody on this machine without credentials. */
  readonly isOpen: boolean;
  /** The names of the port in browsers, beside the `Host` of the request: `host` or `host:port`. */
  readonly names?: readonly string[];
}

/**
 * Returns why a request may be from a page of another site; `undefined` for others.
 *
 * - _foreign host_: an open port of this machine alone was asked under another name. A page can let a browser send such requests, if the
 *   name of its site resolves to 127.0.0.1 ("DNS rebinding").
 * - _foreign origin_: a request that can change something has the `Origin` or the `Sec-Fetch-Site` of another site. A page can let a browser
 *   send one, with its cookies or to a port without credentials. Programs send neither header.
 */
export function foreignRequest(
  { method = "GET", headers }: { readonly method?: string | undefined; readonly headers: IncomingHttpHeaders },
  { listen, isOpen, names = [] }: GuardedPort,
): ForeignRequest | undefined {
  const { host, origin, "sec-fetch-site": site } = headers;
  if (isOpen && isLoopback(listen) && host !== undefined && !isLoopback(host)) return "foreign host";
  if (method === "GET" || method === "HEAD") return undefined;
  if (site === "cross-site" || site === "same-site") return "foreign origin";
  if (site !== undefined || origin === undefined) return undefined;
  const from = URL.canParse(origin) ? new URL(origin).host : undefined;
  return from !== undefined && [host, ...names].includes(from) ? undefined : "foreign origin";
}
