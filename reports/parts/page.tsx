import type { ComponentChildren, VNode } from "preact";
import { render } from "preact-render-to-string";
import type { People } from "../sign-in/people.ts";
import { OPEN, seesAll, type Viewer } from "../access/viewer.ts";
import { NAV_GROUPS, navPageOf } from "./nav.ts";

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
  /** The query of the address, without the question mark. */
  readonly query: string;
  /** Addresses of the style and the icon. They contain hashes. */
  readonly assets: { readonly style: string; readonly icon: string; readonly script: string };
}

/** Returns a page as HTML. */
export function pageHtml(shell: Shell, title: string, content: VNode): string {
  return `<!doctype html>\n${render(
    <Page shell={shell} title={title}>
      {content}
    </Page>,
  )}`;
}

function Page({ shell, title, children }: PageProps): VNode {
  const { version, isDemo, isListPriced, viewer, assets } = shell;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · gpu-ledger`}</title>
        <link rel="stylesheet" href={assets.style} />
        <link rel="icon" type="image/svg+xml" href={assets.icon} />
        <script src={assets.script} />
      </head>
      <body>
        <a class="skip" href="#content">
          To the content
        </a>
        <header class="top">
          <a class="brand" href="/">
            gpu-ledger
          </a>
          {viewer !== undefined && <SearchForm />}
          {viewer !== undefined && viewer !== OPEN && <LogOut viewer={viewer} proxy={shell.proxy} />}
        </header>
        {viewer !== undefined && <Rail viewer={viewer} path={shell.path} />}
        <main id="content" class={isListPriced ? "list-prices" : undefined}>
          <template id="notice" />
          {isDemo && <DemoNotice />}
          {isListPriced && viewer !== undefined && <ListPricesNotice />}
          <Crumbs shell={shell} title={title} />
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

function SearchForm(): VNode {
  return (
    <form class="search" role="search" method="get" action="/search">
      <input
        type="search"
        name="q"
        aria-label="Search"
        placeholder="Search: team, workload, pod, node, GPU"
        maxLength={200}
        autocomplete="off"
      />
    </form>
  );
}

function Rail({ viewer, path }: { readonly viewer: Viewer; readonly path: string }): VNode {
  const current = navPageOf(path)?.path;
  return (
    <nav class="rail" aria-label="Pages">
      {NAV_GROUPS.map(({ name, pages }) => (
        <section>
          <p id={`rail-${name}`}>{name}</p>
          <ul aria-labelledby={`rail-${name}`}>
            {pages
              .filter(({ isOfAll }) => isOfAll !== true || seesAll(viewer))
              .map((page) => (
                <li>
                  <a
                    href={page.path}
                    {...(page.path === path ? { "aria-current": "page" as const } : {})}
                    {...(page.path === current ? { class: "current" } : {})}
                  >
                    {page.name}
                  </a>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

/** The way to a page that is not in the navigation. */
function Crumbs({ shell: { path, query }, title }: Pick<PageProps, "shell" | "title">): VNode | null {
  const page = navPageOf(path);
  const isPart = page?.partBy !== undefined && new URLSearchParams(query).has(page.partBy);
  if (page === undefined || (page.path === path && !isPart)) return null;
  return (
    <nav class="crumbs" aria-label="Breadcrumbs">
      <ol>
        <li>
          <a href={page.path}>{page.name}</a>
        </li>
        <li aria-current="page">
          <bdi>{title}</bdi>
        </li>
      </ol>
    </nav>
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
  const { name, role, teams } = viewer;
  const seen = teams === "all" ? "all teams" : `teams: ${teams.join(", ")}`;
  return `viewer: ${name}, role: ${role}, ${seen}`;
}
