import formbody from "@fastify/formbody";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { VNode } from "preact";
import { z } from "zod";
import { OPEN, type Viewer } from "../access/viewer.ts";
import { SignInError } from "../sign-in/issuer.ts";
import type { SignIn } from "../sign-in/people.ts";
import { logoutCookie, loginCookie } from "../access/credentials.ts";
import { LONGEST_NEXT, ownPath } from "../access/own-path.ts";
import { Problem } from "../question/problem.ts";
import type { Access } from "../server/access.ts";

/** The longest token that is checked. */
const LONGEST = 200;

/** The page that the browser shows after a login. */
const next = z.string().max(LONGEST_NEXT).catch("/").transform(ownPath);
const asked = z.object({ next });
/** The form of the page. A form with another content has no token. */
const form = z.object({ token: z.string().max(LONGEST).catch(""), next }).catch({ token: "", next: "/" });

/**
 * Adds `/login`, where a browser exchanges a token for a cookie and goes on to the page that it asked for, and `/logout`. The page shows that a token is wrong. Wrong tokens count as
 * everywhere else.
 */
export async function addLogin(server: FastifyInstance, { access, page, signIn }: LoginParts): Promise<void> {
  await server.register(formbody, { bodyLimit: 4_096 });
  const send = (request: FastifyRequest, reply: FastifyReply, next: string, problem?: string): FastifyReply =>
    reply
      .code(problem === undefined ? 200 : 401)
      .header("cache-control", "no-store")
      .type("text/html; charset=utf-8")
      .send(page(request, "Log in", loginContent(signIn, next, problem)));

  const open = { schema: { hide: true } };
  server.get("/login", open, (request, reply) => send(request, reply, asked.parse(request.query).next));
  server.post("/login", open, async (request, reply) => {
    const { token, next } = form.parse(request.body);
    let viewer: Viewer;
    try {
      viewer = await access.authenticate({
        headers: { authorization: `Bearer ${token.trim()}` },
        ip: request.ip,
        protocol: request.protocol,
        url: "/login",
      });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return send(request, reply, next, error.message);
    }
    // A server without tokens accepts any text, so nothing is to be kept.
    if (viewer === OPEN) return reply.redirect(next, 303);
    const isHttps = request.protocol === "https";
    return reply.header("set-cookie", loginCookie(token.trim(), { isHttps })).redirect(next, 303);
  });
  server.post("/logout", open, async (request, reply) => {
    const { headers, protocol } = request;
    const next = (await issuerLogOut(signIn, headers.cookie)) ?? "/login";
    const ended = [
      ...((await signIn?.sessions.end(headers.cookie)) ?? []),
      logoutCookie({ isHttps: protocol === "https" }),
    ];
    return reply.header("set-cookie", ended).redirect(next, 303);
  });
}

/** Returns the address that ends the session at the issuer too; undefined without one, or while the issuer is away. */
async function issuerLogOut(signIn: SignIn | undefined, cookies: string | undefined): Promise<string | undefined> {
  if (signIn === undefined || (await signIn.sessions.personOf(cookies)) === undefined) return undefined;
  try {
    return (await signIn.issuer.logOutUrl(await signIn.sessions.idTokenOf(cookies)))?.href;
  } catch (error) {
    if (error instanceof SignInError) return undefined;
    throw error;
  }
}

/** The parts that the login uses. */
export interface LoginParts {
  readonly access: Pick<Access, "authenticate">;
  readonly page: LoginPage;
  readonly signIn: SignIn | undefined;
}

/** Returns a page with a title and a content for the viewer of a request. */
export type LoginPage = (request: FastifyRequest, title: string, content: VNode) => string;

function loginContent(signIn: SignIn | undefined, next: string, problem: string | undefined): VNode {
  return (
    <>
      <h1>Log in</h1>
      <p class="lead">This server shows figures only to people who have signed in, and to viewers with a token.</p>
      {signIn !== undefined && (
        <p>
          <a href={`/sign-in?next=${encodeURIComponent(next)}`}>Sign in at {new URL(signIn.issuerOrigin).host}</a>
        </p>
      )}
      {problem !== undefined && (
        <div class="notice" role="alert">
          <p>
            <strong>Login failed:</strong> {problem}.
          </p>
        </div>
      )}
      <form class="view" method="post" action="/login">
        <input type="hidden" name="next" value={next} />
        <label>
          Token
          <input name="token" type="password" autocomplete="current-password" required size={52} autofocus />
        </label>
        <button type="submit">Log in</button>
      </form>
      <p>
        An administrator creates a token with <code>gpu-ledger token create NAME --role viewer --team TEAM</code>. The
        browser keeps the token until the browser is closed.
      </p>
    </>
  );
}
