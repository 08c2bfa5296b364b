/** The longest path to which a browser goes after a login. */
export const LONGEST_NEXT = 2_000;

/** Any server: only the path is used. */
const BASE = "http://server.invalid";

/** Returns a path of this server; `/` for an address of another server, one that browsers could read as such, a login itself, or a path that is too long. */
export function ownPath(next: string): string {
  if (!URL.canParse(next, BASE)) return "/";
  const url = new URL(next, BASE);
  const isOwn = url.origin === BASE && next.startsWith("/") && !url.pathname.startsWith("//");
  const isLogin = url.pathname === "/login" || url.pathname.startsWith("/sign-in");
  const path = `${url.pathname}${url.search}`;
  // Other letters than those of ASCII become up to nine characters.
  return isOwn && !isLogin && path.length <= LONGEST_NEXT ? path : "/";
}
