import type { ComponentChildren, VNode } from "preact";
import { render } from "preact-render-to-string";
import type { People } from "../sign-in/people.ts";
import { OPEN, seesAll, type Viewer } from "../access/viewer.ts";

/** The properties of every page: the server and the viewer. */
export interface Shell {
  readonly version: string;
  /** True if the fleet is the synthetic one. */
  readonly isDemo: boolean;
  /** True if charges are by public list prices, because there is no price book. */
  readonly isListPriced: boolean;
  /** Undefined if the viewer is unknown. */
  readonly viewer: Viewer | undefined;
  /** The proxy that signs people in, if there is one. */
  readonly proxy: People["proxy"];
  /** The path of the page. It is marked in the navigation. */
  readonly path: string;
  /** Addresses of the style and the icon. They contain hashes. */
  readonly assets: { readonly style: string; readonly icon: string };
}

/** Pages in the order of the navigation. Some are only for viewers of all teams. */
const PAGES: readonly { readonly path: string; readonly name: string; readonly isOfAll?: true }[] = [
  { path: "/", name: "Overview" },
  { path: "/fleet", name: "Fleet" },
  { path: "/queue", name: "Queue" },
  { path: "/advice", name: "Advice" },
  { path: "/serving", name: "Serving" },
  { path: "/training", name: "Training" },
  { path: "/statement", name: "Statement" },
  { path: "/policies", name: "Policies" },
  { path: "/practices", name: "Practices" },
  { path: "/prices", name: "Prices and owners", isOfAll: true },
  { path: "/quality", name: "Data quality", isOfAll: true },
  { path: "/periods", name: "Periods" },
];

/** Returns a page as HTML. */
export function pageHtml(shell: Shell, title: string, content: VNode): string {
  return `<!doctype html>\n${render(
    <Page shell={shell} title={title}>
      {content}
    </Page>,
  )}`;
}

function Page({ shell, title, children }: PageProps): VNode {
  const { version, isDemo, isListPriced, viewer, path, assets } = shell;
  const pages = viewer === undefined ? [] : PAGES.filter(({ isOfAll }) => isOfAll !== true || seesAll(viewer));
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · gpu-ledger`}</title>
        <link rel="stylesheet" href={assets.style} />
        <link rel="icon" type="image/svg+xml" href={assets.icon} />
      </head>
      <body>
        <a class="skip" href="#content">
          To the content
        </a>
        <header class="top">
          <div>
            <a class="brand" href="/">
              gpu-ledger
            </a>
            <nav aria-label="Pages">
              <ul>
                {pages.map((page) => (
                  <li>
                    <a href={page.path} {...(page.path === path ? { "aria-current": "page" as const } : {})}>
                      {page.name}
                    </a>
                  </li>
                ))}
              </ul>
            </nav>
            {viewer !== undefined && viewer !== OPEN && <LogOut viewer={viewer} proxy={shell.proxy} />}
          </div>
        </header>
        <main id="content" class={isListPriced ? "list-prices" : undefined}>
          <template id="notice" />
          {isDemo && <DemoNotice />}
          {isListPriced && viewer !== undefined && <ListPricesNotice />}
          {children}
        </main>
        <footer>
          gpu-ledger {version} · {whoSees(viewer)} · <a href="/api/v1/docs">API</a> ·{" "}
          <a href="/api/v1/openapi.json">OpenAPI</a>
        </footer>
      </body>
    </html>
  );
}

/** A person whom a proxy has signed in is logged out there: this server has no session to end. */
function LogOut({ viewer, proxy }: { readonly viewer: Viewer; readonly proxy: People["proxy"] }): VNode {
  if (proxy === undefined || viewer.subject === undefined)
    return (
      <form method="post" action="/logout">
        <button type="submit">Log out {viewer.name}</button>
      </form>
    );
  return proxy.logOutUrl === undefined ? (
    <span>{viewer.name}</span>
  ) : (
    <a href={proxy.logOutUrl}>Log out {viewer.name}</a>
  );
}

interface PageProps {
  readonly shell: Shell;
  readonly title: string;
  readonly children: ComponentChildren;
}

function DemoNotice(): VNode {
  return (
    <aside class="notice">
      <p>
        <strong>Demo:</strong> this fleet is synthetic. No real GPU is measured. To see your own fleet, add a cluster
        under <code>kubernetes.clusters</code> or exporters under <code>collector.jobs</code> in{" "}
        <code>gpu-ledger.yaml</code>. Then start <code>gpu-ledger up</code> again. With Compose, start the profile{" "}
        <code>real</code>.
      </p>
    </aside>
  );
}

function ListPricesNotice(): VNode {
  return (
    <aside class="notice">
      <p>
        <strong>List prices:</strong> every amount with ≈ is by public list prices, not by yours. To replace them, write{" "}
        <code>gpu-ledger prices list &gt; prices.yaml</code>, change the file, and set{" "}
        <code>pricesFile: prices.yaml</code> in <code>gpu-ledger.yaml</code>.
      </p>
    </aside>
  );
}

function whoSees(viewer: Viewer | undefined): string {
  if (viewer === undefined) return "not logged in";
  const { name, teams } = viewer;
  return teams === "all" ? `viewer: ${name}` : `viewer: ${name}, teams: ${teams.join(", ")}`;
}
