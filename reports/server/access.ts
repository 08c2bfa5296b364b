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

/** The access control of a server: its authentication and its mode. */
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
 * Creates the access control of a server on an address. Fails with an `AccessError` if the server would serve everybody, and with a
 * `StoreError` if the store does not return the tokens.
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
