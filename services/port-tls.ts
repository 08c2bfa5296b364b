import type { Port } from "../reports/server/route-table.ts";
import type { Config } from "../runtime/config/schema.ts";
import { isLoopback } from "../runtime/http/loopback.ts";
import { openTls, type OpenedTls } from "../runtime/tls/port-tls.ts";
import { PlainHttpError } from "../runtime/tls/tls-error.ts";

/** The ports that accept tokens of the store, which can be created at any time. */
const WITH_STORE: readonly Port["name"][] = ["server", "processor"];

/**
 * Returns the TLS of a port, or `undefined` if it serves plain HTTP. Fails with a `PlainHttpError` if other machines would send tokens over
 * plain HTTP and the configuration does not allow it, and with a `TlsError` if the files cannot be served.
 */
export async function openPortTls(
  name: Exclude<Port["name"], "processor of up">,
  { listen, tls, plainHttp, access, metricsToken }: Config["server"],
): Promise<OpenedTls | undefined> {
  if (tls !== undefined) return openTls(tls);
  const hasTokens = WITH_STORE.includes(name) || access.tokens.length > 0 || metricsToken !== undefined;
  if (hasTokens && !plainHttp && !isLoopback(listen)) throw new PlainHttpError(listen);
  return undefined;
}
