import type { ComponentChildren, VNode } from "preact";
import { PagingLinks, rowsOfPage, type Paging } from "./paging.tsx";

/** A column of a table: its head, whether it is of numbers, and what a row has in it. */
export interface Column<Row> {
  readonly head: string;
  readonly isNumber?: boolean;
  /** Whether its cells are never broken into lines, as dates and names of entries are not. */
  readonly isWhole?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
  /** Under the rows; nothing where it has no sum. */
  readonly foot?: ComponentChildren;
}

/** A table whose first column heads its rows. */
export function Table<Row>({ caption, columns, rows, isWide = false, paging }: TableProps<Row>): VNode {
  const [first, ...others] = columns;
  const hasFoot = columns.some(({ foot }) => foot !== undefined);
  const kind = ({ isNumber, isWhole }: Column<Row>) =>
    isNumber === true ? { class: "number" } : isWhole === true ? { class: "whole" } : {};
  const shown = paging === undefined ? rows : rowsOfPage(rows, paging);
  const table = (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption} {...(paging && { id: paging.name })}>
      <table {...(isWide ? { class: "wide" } : {})}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" {...kind(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr>
              <th scope="row" {...kind(first)}>
                {first.cell(row)}
              </th>
              {others.map((column) => (
                <td {...kind(column)}>{column.cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
        {hasFoot && (
          <tfoot>
            <tr>
              <th scope="row" {...kind(first)}>
                {first.foot}
              </th>
              {others.map((column) => (
                <td {...kind(column)}>{column.foot}</td>
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
      {table}
      <PagingLinks count={rows.length} paging={paging} caption={caption} />
    </>
  );
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly [Column<Row>, ...Column<Row>[]];
  readonly rows: readonly Row[];
  /** Of many columns: nothing is broken into lines, and what does not fit is scrolled to. */
  readonly isWide?: boolean;
  /** Of many rows: the part of them that is shown. What is under them is of all. */
  readonly paging?: Paging;
}

/** Where a view has nothing to show: why, and what to do next. */
export function Empty({ children }: { readonly children: ComponentChildren }): VNode {
  return <div class="empty">{children}</div>;
}
