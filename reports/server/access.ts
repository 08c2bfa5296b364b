import type { Logger } from "pino";
import type { Clock } from "../../runtime/clock.ts";
import type { ConfiguredToken } from "../../runtime/config/access.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { Problem } from "./problem.ts";
import type { Authenticate } from "./server.ts";
import { createAuthenticate, type Refusal } from "../access/authenticate.ts";
import { accessMode, type AccessMode } from "../access/mode.ts";
import { createThrottle } from "../access/throttle.ts";
import { createTokenReader } from "../access/token-reader.ts";

/** The gate of a server: who asks, and how it is served. */
export interface Access {
  readonly mode: AccessMode;
  readonly authenticate: Authenticate;
}

const PROBLEMS = {
  401: "not-authenticated",
  403: "not-allowed",
  429: "too-many-requests",
  503: "store-away",
} as const satisfies Readonly<Record<Refusal["status"], Problem["code"]>>;

/**
 * Opens the gate of a server on an address. Fails with an `AccessError` where that would serve everybody, and with a `StoreError` where
 * the store does not say whether there are tokens.
 */
export async function openAccess(of: {
  /** `host:port` of the server. */
  readonly listen: string;
  readonly store: StoreClient;
  readonly configured: readonly ConfiguredToken[];
  readonly clock: Clock;
  readonly logger: Logger;
}): Promise<Access> {
  const { listen, store, configured, clock, logger } = of;
  const tokens = createTokenReader(store, clock, configured);
  const mode = accessMode({ listen, hasTokens: await tokens.hasTokens() });
  const authenticate = createAuthenticate({ listen, tokens, throttle: createThrottle(), clock });
  return {
    mode,
    async authenticate({ headers, ip, url }) {
      const { authorization, cookie, host } = headers;
      const answer = await authenticate({ authorization, cookie, host, remoteAddress: ip });
      if ("viewer" in answer) return answer.viewer;
      const { status, message, reason, tokenId, cause } = answer.refusal;
      logger.info({ reason, tokenId, err: cause, address: ip, path: url.split("?")[0] }, "a request was refused");
      throw new Problem(PROBLEMS[status], message);
    },
  };
}
