import { createContext, type ComponentChildren, type VNode } from "preact";
import { useContext } from "preact/hooks";

/** Where the server is that paths lead to: "" for the one that sends the page; undefined where none can be led to. */
const Server = createContext<string | undefined>("");

/** Everything within leads to a server at an address; to none where it is undefined, as in a file that somebody prints. */
export function LinksTo({ server, children }: LinksToProps): VNode {
  return <Server.Provider value={server}>{children}</Server.Provider>;
}

interface LinksToProps {
  readonly server: string | undefined;
  readonly children: ComponentChildren;
}

/** What leads to a path of the server, where there is one. */
export function Link({ to, children }: { readonly to: string; readonly children: ComponentChildren }): VNode {
  const server = useContext(Server);
  return server === undefined ? <>{children}</> : <a href={`${server}${to}`}>{children}</a>;
}
