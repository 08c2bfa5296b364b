import type { VNode } from "preact";

/** The selection of an address from a long table: an order, the rows with a text, and a part of them. */
export interface Paging {
  /** The name of the table on its page: the beginning of its parameters in the address, and the anchor of its rows. */
  readonly name: string;
  /** From 1. */
  readonly page: number;
  /** The head of the column by which the rows are sorted; undefined for the page's own order. */
  readonly sort: { readonly head: string; readonly isDescending: boolean } | undefined;
  /** The text that the shown rows have; empty for all rows. */
  readonly find: string;
  readonly addressOf: (page: number) => string;
  /** Returns the address with the rows in the order of a column. */
  readonly sortedBy: (head: string, isDescending: boolean) => string;
  /** Returns the address of all its rows as a file, in their order. */
  readonly fileOf: (format: string) => string;
  /** The path of the page and its other parameters, for a form. */
  readonly path: string;
  readonly kept: readonly (readonly [name: string, value: string])[];
}

/** The number of rows of a table on one page. */
export const ROWS_OF_PAGE = 100;

/** Returns the selection of an address from a table; the first part in the page's own order without parameters. */
export function pagingOf(url: string, name: string): Paging {
  const [path = "", query = ""] = url.split("?");
  const parameters = new URLSearchParams(query);
  const [sortName, findName] = [`${name}.sort`, `${name}.find`];
  const page = Number(parameters.get(name));
  const order = parameters.get(sortName) ?? "";
  const head = order.replace(/^-/, "");
  const addressWith = (changes: Readonly<Record<string, string | undefined>>): string => {
    const changed = new URLSearchParams(parameters);
    for (const [key, value] of Object.entries(changes))
      if (value === undefined) changed.delete(key);
      else changed.set(key, value);
    return `${path}?${changed.toString()}#${name}`;
  };
  return {
    name,
    page: Number.isSafeInteger(page) && page >= 1 ? page : 1,
    sort: head === "" ? undefined : { head, isDescending: order.startsWith("-") },
    find: parameters.get(findName)?.trim() ?? "",
    addressOf: (other) => addressWith({ [name]: String(other) }),
    sortedBy: (of, isDescending) => addressWith({ [sortName]: isDescending ? `-${of}` : of, [name]: undefined }),
    fileOf: (format) => addressWith({ [format]: name }).replace(/#.*$/, ""),
    path: `${path}#${name}`,
    kept: [...parameters].filter(([key]) => key !== name && key !== findName),
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

/** Links to the previous and next parts, and the given links to all rows; nothing if there is neither. */
export function PagingLinks({ count, paging, caption, children }: PagingLinksProps): VNode | null {
  if (count <= ROWS_OF_PAGE && children === undefined) return null;
  const { addressOf } = paging;
  const page = pageWithin(count, paging.page);
  const first = (page - 1) * ROWS_OF_PAGE + 1;
  const last = Math.min(count, page * ROWS_OF_PAGE);
  return (
    <nav class="links" aria-label={`Parts of: ${caption}`}>
      {count > ROWS_OF_PAGE && <span class="quiet">{`${first} to ${last} of ${count}`}</span>}
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
      {children}
    </nav>
  );
}

interface PagingLinksProps {
  /** The number of all rows. */
  readonly count: number;
  readonly paging: Paging;
  readonly caption: string;
  readonly children?: VNode | undefined;
}

function pageWithin(count: number, page: number): number {
  return Math.min(page, Math.max(1, Math.ceil(count / ROWS_OF_PAGE)));
}
