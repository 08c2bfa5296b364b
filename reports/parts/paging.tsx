import type { VNode } from "preact";

/** The shown part of a long table, and the addresses of the other parts. */
export interface Paging {
  /** The name of the table on its page: the parameter of the address that selects the part, and the anchor of its rows. */
  readonly name: string;
  /** From 1. */
  readonly page: number;
  readonly addressOf: (page: number) => string;
}

/** The number of rows of a table on one page. */
export const ROWS_OF_PAGE = 100;

/** Returns the part of a table that an address selects; the first part without a number. */
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

/** Returns the rows of the shown part. A part after the last one shows the rows of the last. */
export function rowsOfPage<Row>(rows: readonly Row[], paging: Pick<Paging, "page">): readonly Row[] {
  const first = rowsBefore(rows.length, paging);
  return rows.slice(first, first + ROWS_OF_PAGE);
}

/** Returns the number of rows before the shown part of `count` rows. */
export function rowsBefore(count: number, { page }: Pick<Paging, "page">): number {
  return (pageWithin(count, page) - 1) * ROWS_OF_PAGE;
}

/** Links to the previous and next parts; nothing if there is one part. */
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
          Previous {ROWS_OF_PAGE}
        </a>
      )}
      {last < count && (
        <a rel="next" href={addressOf(page + 1)}>
          Next {Math.min(ROWS_OF_PAGE, count - last)}
        </a>
      )}
    </nav>
  );
}

interface PagingLinksProps {
  /** The number of all rows. */
  readonly count: number;
  readonly paging: Paging;
  readonly caption: string;
}

function pageWithin(count: number, page: number): number {
  return Math.min(page, Math.max(1, Math.ceil(count / ROWS_OF_PAGE)));
}
