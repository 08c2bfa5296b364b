import type { ComponentChildren, VNode } from "preact";
import { PagingLinks, rowsOfPage, type Paging } from "./paging.tsx";
import { FileLinks, useTableFile } from "./table-file.tsx";

/** A column of a table: its header, whether it contains numbers, and the cell of a row. */
export interface Column<Row> {
  readonly head: string;
  readonly isNumber?: boolean;
  /** True if its cells are never wrapped, for dates and names of entries. */
  readonly isWhole?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
  /** The value by which rows are sorted and found. By default the text of the cell. */
  readonly value?: (row: Row) => string | number;
  /** The cell under the rows; absent if the column has no sum. */
  readonly foot?: ComponentChildren;
}

/** A table whose first column contains the row headers. Rows of a table with `paging` can be sorted and found. */
export function Table<Row>(props: TableProps<Row>): VNode {
  const { caption: title, order, columns, rows, isWide = false, paging, part } = props;
  const [first, ...others] = columns;
  const isChosen = paging === undefined || part !== undefined;
  const chosen = isChosen ? rows : chosenRows(rows, columns, paging);
  const inOrder = paging?.sort === undefined ? order : `by ${paging.sort.head}`;
  const caption = inOrder === undefined ? title : `${title}, ${inOrder}`;
  useTableFile(isChosen ? undefined : paging.name, columns, chosen);
  const isWhole = chosen.length === rows.length;
  const hasFoot = isWhole && columns.some(({ foot }) => foot !== undefined);
  const shown = isChosen ? chosen : rowsOfPage(chosen, paging);
  const table = (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption} {...(paging && { id: paging.name })}>
      <table {...(isWide ? { class: "wide" } : {})}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head column={column} rows={rows} paging={paging} heads={part?.heads} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr>
              <th scope="row" {...kindOf(first)}>
                {first.cell(row)}
              </th>
              {others.map((column) => (
                <td {...kindOf(column)}>{column.cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
        {hasFoot && (
          <tfoot>
            <tr>
              <th scope="row" {...kindOf(first)}>
                {first.foot}
              </th>
              {others.map((column) => (
                <td {...kindOf(column)}>{column.foot}</td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
  if (paging === undefined) return table;
  return (
    <>
      {!isChosen && (rows.length > LEAST_TO_FIND || !isWhole) && (
        <Find count={chosen.length} paging={paging} caption={caption} />
      )}
      {table}
      <PagingLinks count={part?.count ?? chosen.length} paging={paging} caption={caption}>
        {!isChosen && rows.length > 0 ? <FileLinks addressOf={paging.fileOf} /> : undefined}
      </PagingLinks>
    </>
  );
}

/** The number of rows above which a table has a field to find some. */
const LEAST_TO_FIND = 10;

function kindOf<Row>({ isNumber, isWhole }: Column<Row>): { readonly class?: string } {
  return isNumber === true ? { class: "number" } : isWhole === true ? { class: "whole" } : {};
}

/** Returns the value of a row in a column; undefined if the column has none to sort by. */
function valueOf<Row>({ value, cell }: Column<Row>, row: Row): string | number | undefined {
  if (value !== undefined) return value(row);
  const shown = cell(row);
  return typeof shown === "number" ? shown : textOf(shown);
}

/** Returns the text in an element and the elements within; undefined if only components could have one. */
function textOf(shown: ComponentChildren): string | undefined {
  if (typeof shown === "string") return shown;
  if (typeof shown === "number") return String(shown);
  if (Array.isArray(shown)) {
    const texts = shown.flatMap((each: ComponentChildren) => textOf(each) ?? []);
    return texts.length === 0 ? undefined : texts.join(" ");
  }
  if (typeof shown !== "object" || shown === null || !("props" in shown)) return undefined;
  return textOf((shown.props as { readonly children?: ComponentChildren }).children);
}

function chosenRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { sort, find }: Paging,
): readonly Row[] {
  const wanted = find.toLowerCase();
  const has = (row: Row): boolean =>
    columns.some((column) =>
      String(valueOf(column, row) ?? "")
        .toLowerCase()
        .includes(wanted),
    );
  const found = wanted === "" ? rows : rows.filter(has);
  const column = columns.find(({ head }) => head === sort?.head);
  if (column === undefined) return found;
  const direction = sort!.isDescending ? -1 : 1;
  // A value is made from a cell, so it is made once for each row.
  return found
    .map((row) => ({ row, value: valueOf(column, row) }))
    .toSorted((a, b) => direction * compare(a.value, b.value))
    .map(({ row }) => row);
}

function compare(a: string | number | undefined, b: string | number | undefined): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [one, other] = [String(a ?? ""), String(b ?? "")];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The head of a column. It leads to the rows in its order: numbers from the largest on first, texts from the first. */
function Head<Row>({ column, rows, paging, heads }: HeadProps<Row>): VNode {
  const { head, isNumber = false } = column;
  const [first] = rows;
  const hasOrder = heads === undefined ? () => valueOf(column, first!) !== undefined : () => heads.includes(head);
  const isSortable = paging !== undefined && rows.length > 1 && head !== "" && hasOrder();
  const sort = paging?.sort?.head === head ? paging.sort : undefined;
  const order = sort === undefined ? {} : ({ "aria-sort": sort.isDescending ? "descending" : "ascending" } as const);
  const isDescending = sort === undefined ? isNumber : !sort.isDescending;
  return (
    <th scope="col" {...kindOf(column)} {...order}>
      {isSortable ? <a href={paging.sortedBy(head, isDescending)}>{head}</a> : head}
    </th>
  );
}

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly rows: readonly Row[];
  readonly paging: Paging | undefined;
  readonly heads: readonly string[] | undefined;
}

/** A form that leaves the rows with a text. It works without a script. */
function Find({ count, paging, caption }: FindProps): VNode {
  const { name, path, kept, find } = paging;
  return (
    <form class="find" method="get" action={path} aria-label={`Find in: ${caption}`}>
      {kept.map(([key, value]) => (
        <input type="hidden" name={key} value={value} />
      ))}
      <input type="search" name={`${name}.find`} value={find} placeholder="Find" aria-label="Find" maxLength={200} />
      <button type="submit">Find</button>
      {find !== "" && <span class="quiet">{count === 1 ? "1 row" : `${count} rows`}</span>}
    </form>
  );
}

interface FindProps {
  readonly count: number;
  readonly paging: Paging;
  readonly caption: string;
}

interface TableProps<Row> {
  readonly caption: string;
  /** The page's own order in words: `highest first`. */
  readonly order?: string;
  readonly columns: readonly [Column<Row>, ...Column<Row>[]];
  readonly rows: readonly Row[];
  /** True for many columns: cells are not wrapped, and the table scrolls. */
  readonly isWide?: boolean;
  /** The shown part of many rows. The foot is of all rows. */
  readonly paging?: Paging;
  /** Set if `rows` are already what the paging selects: the number of all rows, and the heads of the columns that can sort them. */
  readonly part?: { readonly count: number; readonly heads: readonly string[] };
}

/** An empty view, with the reason and the next step. */
export function Empty({ children }: { readonly children: ComponentChildren }): VNode {
  return <div class="empty">{children}</div>;
}
