import { createHash, randomUUID } from "node:crypto";
import { z } from "zod";
import type { SignInConfig } from "../../runtime/config/sign-in.ts";
import { cookieName, cookiesOf, cookieOf, setCookie, type HeaderValue } from "../access/credentials.ts";
import type { Person } from "../access/groups.ts";
import type { EndedSessions } from "./ended-sessions.ts";
import { SignInError, type Begun, type SignedIn } from "./issuer.ts";
import { createSealed } from "./sealed.ts";

/** The sessions of people who signed in, and the sign-ins that have begun. They are in encrypted cookies of the browsers. */
export interface Sessions {
  /**
   * Returns the `Set-Cookie` values of a sign-in that begins. Afterwards the browser goes to `next`, a path of this server. If the browser
   * has many other sign-ins, they end, so that their cookies do not make its requests too large.
   */
  begin(begun: Begun, next: string, cookies: HeaderValue): Promise<readonly string[]>;
  /** Returns the sign-in that this browser began with a state; undefined if there is none. */
  begunWith(cookies: HeaderValue, state: string): Promise<(Begun & { readonly next: string }) | undefined>;
  /**
   * Returns the `Set-Cookie` values of a session that starts, and that end the begun sign-in. Fails with a {@link SignInError} if the
   * person has too many groups for a cookie.
   */
  start(person: SignedIn, begun: Begun): Promise<readonly string[]>;
  /** Returns the person of a session; undefined without a session, `ended` if it has ended. */
  personOf(cookies: HeaderValue): Promise<Person | "ended" | undefined>;
  /** Returns the ID token of a session, if the browser has it. */
  idTokenOf(cookies: HeaderValue): Promise<string | undefined>;
  /** Ends the session of a browser, if it has one. Returns the `Set-Cookie` values that remove it. */
  end(cookies: HeaderValue): Promise<readonly string[]>;
}

/** The time that a person has for the login at the issuer. */
const BEGUN_SECONDS = 600;
/** The time for which the ID token is kept for logging out: a working day. */
const ID_TOKEN_SECONDS = 43_200;
/** The most sign-ins that a browser has begun. */
const MOST_BEGUN = 5;
/** The most bytes of their cookies. Servers accept 16 KiB of headers, and a session has two cookies of up to 4 KB. */
const MOST_BEGUN_BYTES = 6_000;
/** Browsers ignore larger cookies. */
const LONGEST_COOKIE = 3_900;

const personForm = z.object({ id: z.string(), name: z.string(), subject: z.string(), groups: z.array(z.string()) });
const begunForm = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), next: z.string() });
const idTokenForm = z.object({ idToken: z.string() });

/**
 * Creates sessions. A session has only the groups for which `isKnown` is true, so that it fits into a cookie. It ends with its time, or when
 * the person logs out.
 */
export function createSessions(
  config: SignInConfig,
  isKnown: (group: string) => boolean,
  ended: EndedSessions,
): Sessions {
  const { issuer, clientId, publicUrl, session, sessionKey } = config;
  const sealed = createSealed(`${issuer} ${clientId}`, sessionKey);
  const isHttps = publicUrl.startsWith("https:");
  const name = (what: string): string => cookieName(what, { isHttps });
  const sessionCookie = name("session");
  const idCookie = name("id");
  // Several tabs can sign in at the same time.
  const begunPrefix = name("sign_in_");
  const begunCookie = (state: string): string =>
    `${begunPrefix}${createHash("sha256").update(state).digest("hex").slice(0, 16)}`;
  const clear = (cookie: string): string => setCookie(cookie, "", { isHttps, seconds: 0 });
  const seconds = session / 1000;

  return {
    async begin(begun, next, cookies) {
      const text = await sealed.seal("sign-in", { ...begun, next }, BEGUN_SECONDS);
      const others = cookiesOf(cookies).filter(([cookie]) => cookie.startsWith(begunPrefix));
      const bytes = others.reduce((sum, [cookie, value]) => sum + cookie.length + value.length, text.length);
      const hasRoom = others.length < MOST_BEGUN && bytes <= MOST_BEGUN_BYTES;
      const ended = hasRoom ? [] : others.map(([cookie]) => clear(cookie));
      return [...ended, setCookie(begunCookie(begun.state), text, { isHttps, seconds: BEGUN_SECONDS })];
    },
    async begunWith(cookies, state) {
      const text = cookieOf(cookies, begunCookie(state));
      return text === undefined ? undefined : sealed.open("sign-in", text, begunForm);
    },
    async start({ name: person, subject, groups, idToken }, { state }) {
      const content = { id: randomUUID(), name: person, subject, groups: groups.filter(isKnown) };
      const text = await sealed.seal("session", content, seconds);
      if (text.length > LONGEST_COOKIE)
        throw new SignInError("refused", `${person} has too many groups that rules name: ${content.groups.length}`);
      const id = await sealed.seal("id", { idToken }, ID_TOKEN_SECONDS);
      return [
        setCookie(sessionCookie, text, { isHttps }),
        id.length > LONGEST_COOKIE ? clear(idCookie) : setCookie(idCookie, id, { isHttps, seconds: ID_TOKEN_SECONDS }),
        clear(begunCookie(state)),
      ];
    },
    async personOf(cookies) {
      const text = cookieOf(cookies, sessionCookie);
      if (text === undefined) return undefined;
      const session = await sealed.open("session", text, personForm);
      if (session === undefined || (await ended.has(session.id))) return "ended";
      const { id: _, ...open } = session;
      return open;
    },
    async idTokenOf(cookies) {
      const text = cookieOf(cookies, idCookie);
      return text === undefined ? undefined : (await sealed.open("id", text, idTokenForm))?.idToken;
    },
    async end(cookies) {
      const text = cookieOf(cookies, sessionCookie);
      const session = text === undefined ? undefined : await sealed.open("session", text, personForm);
      if (session !== undefined) await ended.add(session.id, session.name);
      return [clear(sessionCookie), clear(idCookie)];
    },
  };
}
