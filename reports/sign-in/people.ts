import type { GroupRule } from "../../runtime/config/access.ts";
import { createNetworks } from "../../runtime/http/networks.ts";
import type { ProxySignInConfig, SignInConfig } from "../../runtime/config/sign-in.ts";
import { createGroupAccess, type Person } from "../access/groups.ts";
import type { PersonAsking, PersonReader } from "../access/person.ts";
import type { EndedSessions } from "./ended-sessions.ts";
import { createIssuer, type Issuer, type SignedIn } from "./issuer.ts";
import { createSessions, type Sessions } from "./sessions.ts";

/** The sign-in of people: their sessions after OpenID Connect, and the people that a proxy has signed in. */
export interface People extends PersonReader {
  /** The sign-in with OpenID Connect, if it is configured. */
  readonly signIn: SignIn | undefined;
  /** The sign-in by a proxy, if it is configured: where it logs people out. */
  readonly proxy?: { readonly logOutUrl?: string | undefined } | undefined;
}

/** The sign-in with OpenID Connect. */
export interface SignIn {
  readonly issuer: Issuer;
  readonly sessions: Sessions;
  /** The origin of the issuer, for pages. */
  readonly issuerOrigin: string;
  /** The address of this server in browsers. */
  readonly publicUrl: string;
  /** Returns true if any rule gives the person a role now. */
  hasRole(person: SignedIn): boolean;
}

/** Creates the sign-in of a configuration; undefined if people cannot sign in. */
export function createPeople(
  config: {
    readonly signIn?: SignInConfig | undefined;
    readonly proxySignIn?: ProxySignInConfig | undefined;
    readonly access: { readonly groups: readonly GroupRule[] };
  },
  { now, ended }: { readonly now: () => number; readonly ended: EndedSessions },
): People | undefined {
  if (config.signIn === undefined && config.proxySignIn === undefined) return undefined;
  const groups = createGroupAccess(config.access.groups);
  const signIn = config.signIn && createSignIn(config.signIn);
  const ofProxy = config.proxySignIn === undefined ? () => undefined : proxyPeople(config.proxySignIn);

  function createSignIn(given: SignInConfig): SignIn {
    return {
      issuer: createIssuer(given),
      sessions: createSessions(given, groups.isKnown, ended),
      issuerOrigin: new URL(given.issuer).origin,
      publicUrl: given.publicUrl,
      hasRole: (person) => groups.viewerOf(person, now()) !== undefined,
    };
  }

  return {
    signIn,
    proxy: config.proxySignIn,
    async viewerOf(asking) {
      const proxied = ofProxy(asking);
      if (proxied === "two headers") return proxied;
      const person = proxied ?? (await signIn?.sessions.personOf(asking.cookie));
      if (person === undefined) return undefined;
      if (person === "ended") return "session ended";
      const viewer = groups.viewerOf(person, now());
      return viewer === undefined ? "no role" : { viewer, by: proxied === undefined ? "sign-in" : "proxy" };
    },
  };
}

/**
 * Returns a function from a request to the person that a trusted proxy names; undefined for requests from other addresses. A proxy that adds
 * its header to that of a client, instead of replacing it, sends two: one may be the client's own.
 */
function proxyPeople({ from, userHeader, groupsHeader }: ProxySignInConfig) {
  const isTrusted = createNetworks(from);
  return ({ headers, peer }: PersonAsking): Person | "two headers" | undefined => {
    const [names = [], given = []] = [userHeader, groupsHeader].map((header) => headers[header.toLowerCase()]);
    const [name = ""] = names;
    if (name === "" || peer === undefined || !isTrusted(peer)) return undefined;
    if (names.length > 1 || given.length > 1) return "two headers";
    const groups = (given[0] ?? "").split(",").map((group) => group.trim());
    return { name, subject: name, groups: [...new Set(groups)].filter((group) => group !== "") };
  };
}
