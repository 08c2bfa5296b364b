/** The links of the figures in a page, and the figures that have none. */
export function figuresOf(page: string): { readonly links: ReadonlySet<string>; readonly alone: readonly string[] } {
  const content = page.slice(page.indexOf("<main"), page.indexOf("</main>"));
  const links = new Set<string>();
  const alone: string[] = [];
  let link: string | undefined;
  for (const [tag, href, figure] of content.matchAll(/<a [^>]*href="([^"]*)"[^>]*>|<\/a>|<data [^>]*>([^<]*)/g)) {
    if (href !== undefined) link = href.replaceAll("&amp;", "&");
    else if (tag === "</a>") link = undefined;
    else if (link === undefined) alone.push(figure ?? tag);
    else links.add(link);
  }
  return { links, alone };
}
