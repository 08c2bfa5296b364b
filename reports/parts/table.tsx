import type { ComponentChildren, VNode } from "preact";
import { PagingLinks, rowsOfPage, type Paging } from "./paging.tsx";

/** A column of a table: its header, whether it contains numbers, and the cell of a row. */
export interface Column<Row> {
  readonly head: string;
  readonly isNumber?: boolean;
  /** True if its cells are never wrapped, for dates and names of entries. */
  readonly isWhole?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
  /** The cell under the rows; absent if the column has no sum. */
  readonly foot?: ComponentChildren;
}

/** A table whose first column contains the row headers. */
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
  /** True for many columns: cells are not wrapped, and the table scrolls. */
  readonly isWide?: boolean;
  /** The shown part of many rows. The foot is of all rows. */
  readonly paging?: Paging;
}

/** An empty view, with the reason and the next step. */
export function Empty({ children }: { readonly children: ComponentChildren }): VNode {
  return <div class="empty">{children}</div>;
}
