import type { VNode } from "preact";
import { z } from "zod";
import { MOST_SEARCHED, namesFor } from "../api/search.ts";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { find } from "../search/find.ts";
import type { FoundName } from "../search/names.ts";
import type { AddPage, PageContext } from "./context.ts";

/** Adds the results of a search. */
export function addSearchPage(add: AddPage, context: PageContext): void {
  const query = z.object({ q: z.string().max(MOST_SEARCHED).default("") });
  add("/search", { schema: { querystring: query }, isLive: true }, async ({ query: asked, url }, asking) => {
    const { q } = asked as z.output<typeof query>;
    const results = find(await namesFor(context, asking), q);
    return { title: "Search", content: <SearchPage text={q} results={results} paging={pagingOf(url, "results")} /> };
  });
}

interface SearchProps {
  readonly text: string;
  readonly results: readonly FoundName[];
  readonly paging: Paging;
}

function SearchPage({ text, results, paging }: SearchProps): VNode {
  return (
    <>
      <h1>
        {text.trim() === "" ? (
          "Search"
        ) : (
          <>
            Search for <bdi>{text}</bdi>
          </>
        )}
      </h1>
      <p class="lead">Names that were charged in the last 7 days, and pages.</p>
      {results.length === 0 ? (
        <Empty>
          <p>
            {text.trim() === ""
              ? "Type a part of a name into the field at the top."
              : "No name contains this text. Names that were charged earlier are in reports of their time."}
          </p>
        </Empty>
      ) : (
        <Table
          caption="Best matches first"
          rows={results}
          paging={paging}
          columns={[
            {
              head: "name",
              cell: ({ name, to }) => (
                <a href={to}>
                  <bdi>{name}</bdi>
                </a>
              ),
            },
            { head: "kind", cell: ({ kind }) => kind },
            { head: "of", cell: ({ beside }) => <bdi>{beside}</bdi> },
          ]}
        />
      )}
    </>
  );
}
