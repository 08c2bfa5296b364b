import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { z } from "zod";
import { logoutCookie } from "../access/credentials.ts";
import { strangersTrail, type RecordAudit } from "../access/audit.ts";
import { LONGEST_NEXT, ownPath } from "../access/own-path.ts";
import { Problem } from "../question/problem.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";
import { CALLBACK_PATH, SignInError } from "./issuer.ts";
import type { SignIn } from "./people.ts";

/** The limit of an address. */
const REQUESTS_A_MINUTE = 120;

const asked = z.object({ next: z.string().max(LONGEST_NEXT).catch("/") });
const answered = z.object({ state: z.string().max(LONGEST_NEXT).catch("") });

/**
 * Adds `/sign-in`, which sends a browser to the issuer, and the path to which the issuer sends it back. After that the browser has the cookie
 * of a session and goes to the page that it asked for. Fails with a {@link Problem} that has the reason.
 */
export function addSignIn(
  server: FastifyInstance,
  signIn: SignIn,
  { record, logger }: { readonly record: RecordAudit; readonly logger: Logger },
): void {
  const { issuer, sessions, publicUrl } = signIn;
  const [recordFailed, recordRefused] = [strangersTrail(record, logger), strangersTrail(record, logger)];
  // Each request makes this server ask the issuer.
  const hidden = {
    schema: { hide: true },
    config: { rateLimit: { max: REQUESTS_A_MINUTE, timeWindow: MINUTE_MILLIS } },
  };

  server.get("/sign-in", hidden, async ({ query, headers }, reply) => {
    const { url, begun } = await issuer.begin().catch(problemOf);
    const next = ownPath(asked.parse(query).next);
    return reply.header("set-cookie", [...(await sessions.begin(begun, next, headers.cookie))]).redirect(url.href, 303);
  });

  server.get(CALLBACK_PATH, hidden, async (request, reply) => {
    const begun = await sessions.begunWith(request.headers.cookie, answered.parse(request.query).state);
    if (begun === undefined)
      throw new Problem(
        "sign-in-failed",
        "this browser has not begun this sign-in, or began it more than 10 minutes ago: open the page again",
      );
    const from = { address: request.ip };
    try {
      const person = await issuer.finish(new URL(request.url, publicUrl), begun);
      const { name, subject } = person;
      const details = { ...from, subject };
      if (!signIn.hasRole(person)) {
        await recordRefused({ who: name, what: "sign-in refused", subject: "no group has a role", details });
        throw new Problem("not-allowed", `none of the groups of ${name} has access to this server`);
      }
      await record({ who: name, what: "signed in", subject: signIn.issuerOrigin, details });
      const isHttps = request.protocol === "https";
      const cookies = [...(await sessions.start(person, begun)), logoutCookie({ isHttps })];
      return await reply.header("set-cookie", cookies).redirect(begun.next, 303);
    } catch (error) {
      if (error instanceof SignInError)
        await recordFailed({ who: "", what: "sign-in failed", subject: error.message, details: from });
      return problemOf(error);
    }
  });
}

function problemOf(error: unknown): never {
  if (!(error instanceof SignInError)) throw error;
  if (error.code === "issuer-away")
    throw new Problem("issuer-away", `${error.message}; a token works in the meantime (/login)`);
  throw new Problem("sign-in-failed", error.message);
}
