import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Clock } from "../../runtime/clock.ts";
import type { ConfiguredToken } from "../../runtime/config/access.ts";
import { equalSecrets } from "../../runtime/equal-secrets.ts";
import { isLoopback } from "../../runtime/http/loopback.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import { createAuthenticate, type Refusal } from "../access/authenticate.ts";
import { createAccessTrail, recordAudit } from "../access/audit.ts";
import { createThrottle } from "../access/throttle.ts";
import { createTokenReader } from "../access/token-reader.ts";
import { mayAdminister, seesAll, type Viewer } from "../access/viewer.ts";
import type { People } from "../sign-in/people.ts";
import type { PersonAsking } from "../access/person.ts";
import { Problem } from "../question/problem.ts";
import type { Asker } from "./route-table.ts";

/** The parts of a request that decide on its admission. */
export type Admitted = Pick<FastifyRequest, "headers" | "ip" | "url" | "protocol"> & {
  readonly socket?: { readonly remoteAddress?: string | undefined };
  readonly raw?: { readonly headersDistinct: PersonAsking["headers"] };
};

/** The access control of a port. */
export interface Access {
  /** Returns the viewer of a request, or fails with a {@link Problem}. */
  authenticate(request: Admitted): Promise<Viewer>;
  /** Admits a request to a route, or fails with a {@link Problem}. Returns the viewer, if the route needs one. */
  admit(request: Admitted, asker: Asker): Promise<Viewer | undefined>;
  /** Returns true if a request is an operator's. */
  isOperator(request: Admitted): Promise<boolean>;
}

/** The longest path in the log and the audit trail. Strangers choose it. */
const LONGEST_PATH = 200;

const PROBLEMS = {
  401: "not-authenticated",
  403: "not-allowed",
  429: "too-many-requests",
  503: "store-away",
} as const satisfies Readonly<Record<Refusal["status"], Problem["code"]>>;

/** Fails with a {@link Problem} if a viewer may not ask a route. */
export function demandRole(viewer: Viewer, asker: Asker): void {
  if (asker === "finance" && !seesAll(viewer))
    throw new Problem("not-allowed", "this page has data of all teams: only finance and administrators can see it");
}

/** Creates the access control of a port. Without a store, only the tokens of the configuration exist. */
export function createAccess(of: {
  /** `host:port` of the port. */
  readonly listen: string;
  readonly store: StoreClient | undefined;
  readonly configured: readonly ConfiguredToken[];
  /** The operator's token, `server.metricsToken`. */
  readonly metricsToken: string | undefined;
  /** The sign-in of people; undefined if only tokens are accepted. */
  readonly people?: People | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}): Access & {
  /** Returns true if a token was ever made, or if people can sign in. Fails with a `StoreError`. */
  readonly hasTokens: () => Promise<boolean>;
  /** Returns true if the server serves everybody on this machine without credentials, or if the store cannot answer that. */
  readonly isOpen: () => Promise<boolean>;
} {
  const { listen, store, configured, metricsToken, people, clock, logger } = of;
  const tokens = createTokenReader(store, clock, configured);
  const isOpen = async (): Promise<boolean> =>
    people === undefined && isLoopback(listen) && !(await tokens.hasTokens());
  const check = createAuthenticate({ isOpen, tokens, throttle: createThrottle(), clock, people });
  const trail =
    store &&
    createAccessTrail(
      recordAudit(store, () => clock.nowMillis()),
      { clock, logger },
    );
  let hadTokens: boolean | undefined;

  /**
   * Returns true if tokens or sign-ins are in force. The last known state counts while the store is away, so that metrics of an outage can be read. Before
   * the first answer of the store, tokens count as in force.
   */
  async function areInForce(): Promise<boolean> {
    if (people !== undefined) return true;
    try {
      hadTokens = await tokens.hasTokens();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
    return hadTokens ?? true;
  }

  async function authenticate({ headers, ip, url, protocol, socket, raw }: Admitted, isLogged = true): Promise<Viewer> {
    const { authorization, cookie } = headers;
    const person = { headers: raw?.headersDistinct ?? {}, cookie, peer: socket?.remoteAddress };
    const answer = await check({
      authorization,
      cookie,
      isHttps: protocol === "https",
      remoteAddress: ip,
      person,
    });
    if ("viewer" in answer) {
      if (answer.by === "token") trail?.used("token used", answer.viewer, ip);
      if (answer.by === "proxy") trail?.used("signed in", answer.viewer, ip);
      return answer.viewer;
    }
    const { status, message, reason, tokenId, cause } = answer.refusal;
    const path = url.split("?")[0]!.slice(0, LONGEST_PATH);
    if (isLogged) {
      logger.info({ reason, tokenId, err: cause, address: ip, path }, "a request was refused");
      if (tokenId !== undefined) trail?.refused(reason, { tokenId, address: ip, path });
    }
    throw new Problem(PROBLEMS[status], message);
  }

  async function admitOperator(request: Admitted, isLogged = true): Promise<void> {
    const given = /^bearer +(.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (metricsToken !== undefined && equalSecrets(given, metricsToken)) return;
    if (!(await areInForce())) {
      if (metricsToken !== undefined)
        throw new Problem("not-authenticated", "the bearer token of server.metricsToken is needed");
      if (!isLoopback(listen)) return;
    }
    if (!mayAdminister(await authenticate(request, isLogged)))
      throw new Problem("not-allowed", "only an administrator, or a program with server.metricsToken, can see this");
  }

  async function admit(request: Admitted, asker: Asker): Promise<Viewer | undefined> {
    if (asker === "anyone") return undefined;
    if (asker === "operator") {
      await admitOperator(request);
      return undefined;
    }
    const viewer = await authenticate(request);
    demandRole(viewer, asker);
    return viewer;
  }

  return {
    hasTokens: async () => people !== undefined || (await tokens.hasTokens()),
    async isOpen() {
      try {
        return await isOpen();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        return true;
      }
    },
    authenticate: (request) => authenticate(request),
    admit,
    isOperator: (request) =>
      admitOperator(request, false).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Problem) return false;
          throw error;
        },
      ),
  };
}
