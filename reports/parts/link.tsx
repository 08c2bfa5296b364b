import { createContext, type ComponentChildren, type VNode } from "preact";
import { useContext } from "preact/hooks";

/** The server of links: "" for the one that sends the page; undefined if there are no links. */
const Server = createContext<string | undefined>("");

/** Links all paths of its children to a server. Without a server there are no links, as in a file for print. */
export function LinksTo({ server, children }: LinksToProps): VNode {
  return <Server.Provider value={server}>{children}</Server.Provider>;
}

interface LinksToProps {
  readonly server: string | undefined;
  readonly children: ComponentChildren;
}

/** A link to a path of the server, if there is a server. */
export function Link({ to, children }: { readonly to: string; readonly children: ComponentChildren }): VNode {
  const server = useContext(Server);
  return server === undefined ? <>{children}</> : <a href={`${server}${to}`}>{children}</a>;
}
