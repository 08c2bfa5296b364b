import { BlockList, isIP } from "node:net";
import type { GroupRule } from "../../runtime/config/access.ts";
import type { ProxySignInConfig, SignInConfig } from "../../runtime/config/sign-in.ts";
import type { HeaderValue } from "../access/credentials.ts";
import { createGroupAccess, type Person } from "../access/groups.ts";
import type { Viewer } from "../access/viewer.ts";
import { createIssuer, type Issuer, type SignedIn } from "./issuer.ts";
import { createSessions, type Sessions } from "./sessions.ts";

/** The parts of a request that identify a person. */
export interface PersonAsking {
  readonly headers: Readonly<Record<string, HeaderValue>>;
  /** The address of the connection itself, not the one that a proxy forwards. */
  readonly peer: string | undefined;
}

/** The reason why a person is not admitted. */
export type PersonRefusal = "session ended" | "no role";

/** The sign-in of people: their sessions after OpenID Connect, and the people that a proxy has signed in. */
export interface People {
  /** Returns the viewer of a request or the reason of a refusal; undefined if the request names no person. */
  viewerOf(asking: PersonAsking): Promise<Viewer | PersonRefusal | undefined>;
  /** The sign-in with OpenID Connect, if it is configured. */
  readonly signIn: SignIn | undefined;
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
  now: () => number,
): People | undefined {
  if (config.signIn === undefined && config.proxySignIn === undefined) return undefined;
  const groups = createGroupAccess(config.access.groups);
  const signIn = config.signIn && createSignIn(config.signIn);
  const ofProxy = config.proxySignIn === undefined ? () => undefined : proxyPeople(config.proxySignIn);

  function createSignIn(given: SignInConfig): SignIn {
    return {
      issuer: createIssuer(given),
      sessions: createSessions(given, groups.isKnown),
      issuerOrigin: new URL(given.issuer).origin,
      publicUrl: given.publicUrl,
      hasRole: (person) => groups.viewerOf(person, now()) !== undefined,
    };
  }

  return {
    signIn,
    async viewerOf(asking) {
      const person = ofProxy(asking) ?? (await signIn?.sessions.personOf(asking.headers["cookie"]));
      if (person === undefined) return undefined;
      return person === "ended" ? "session ended" : (groups.viewerOf(person, now()) ?? "no role");
    },
  };
}

/** Returns a function from a request to the person that a trusted proxy names; undefined for requests from other addresses. */
function proxyPeople({ from, userHeader, groupsHeader }: ProxySignInConfig) {
  const trusted = new BlockList();
  for (const each of from) {
    const [address = "", bits] = each.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (peer: string): boolean => {
    const address = peer.replace(/^::ffff:(?=\d+\.)/i, "");
    return isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  };
  return ({ headers, peer }: PersonAsking): Person | undefined => {
    const name = headers[userHeader.toLowerCase()];
    if (typeof name !== "string" || name === "" || peer === undefined || !isTrusted(peer)) return undefined;
    const given = headers[groupsHeader.toLowerCase()] ?? "";
    const groups = [given].flat().flatMap((text) => text.split(",").map((group) => group.trim()));
    return { name, subject: name, groups: groups.filter((group) => group !== "") };
  };
}
