import type { VNode } from "preact";

/** Which part of a long table is shown, and where the others are. */
export interface Paging {
  /** The table's own on its page: the parameter of the address that says the part, and where its rows can be linked to. */
  readonly name: string;
  /** From 1 on. */
  readonly page: number;
  readonly addressOf: (page: number) => string;
}

/** Rows that a page of a table has. */
export const ROWS_OF_PAGE = 100;

/** The part of the table of a name that an address asks for, the first where it says no number. */
export function pagingOf(url: string, name: string): Paging {
  const [path = "", query = ""] = url.split("?");
  const parameters = new URLSearchParams(query);
  const page = Number(parameters.get(name));
  return {
    name,
    page: Number.isSafeInteger(page) && page >= 1 ? page : 1,
    addressOf(other) {
      parameters.set(name, String(other));
      return `${path}?${parameters.toString()}#${name}`;
    },
  };
}

/** The rows of the part that is shown: of one behind the last, those of the last. */
export function rowsOfPage<Row>(rows: readonly Row[], { page }: Pick<Paging, "page">): readonly Row[] {
  const first = (pageWithin(rows.length, page) - 1) * ROWS_OF_PAGE;
  return rows.slice(first, first + ROWS_OF_PAGE);
}

/** Leads to the parts before and after; nothing where there is one part. */
export function PagingLinks({ count, paging, caption }: PagingLinksProps): VNode | null {
  if (count <= ROWS_OF_PAGE) return null;
  const { addressOf } = paging;
  const page = pageWithin(count, paging.page);
  const first = (page - 1) * ROWS_OF_PAGE + 1;
  const last = Math.min(count, page * ROWS_OF_PAGE);
  return (
    <nav class="links" aria-label={`Parts of: ${caption}`}>
      <span class="quiet">{`${first} to ${last} of ${count}`}</span>
      {page > 1 && (
        <a rel="prev" href={addressOf(page - 1)}>
          The {ROWS_OF_PAGE} before
        </a>
      )}
      {last < count && (
        <a rel="next" href={addressOf(page + 1)}>
          The next {Math.min(ROWS_OF_PAGE, count - last)}
        </a>
      )}
    </nav>
  );
}

interface PagingLinksProps {
  /** Of all rows. */
  readonly count: number;
  readonly paging: Paging;
  readonly caption: string;
}

function pageWithin(count: number, page: number): number {
  return Math.min(page, Math.max(1, Math.ceil(count / ROWS_OF_PAGE)));
}
