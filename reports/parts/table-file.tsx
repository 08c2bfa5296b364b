import { createContext, type ComponentChildren, type VNode } from "preact";
import { useContext } from "preact/hooks";
import { render } from "preact-render-to-string";
import { formatCsv } from "../format/csv.ts";
import { MEDIA_TYPES } from "../format/media-types.ts";

/** The formats of a table of a page as a file. */
const FILE_FORMATS = ["csv", "json"] as const;

/** See {@link FILE_FORMATS}. */
type FileFormat = (typeof FILE_FORMATS)[number];

/** A table that an address wants as a file. */
export interface WantedTable {
  readonly name: string;
  readonly format: FileFormat;
}

/** A table as a file. */
export interface TableFile {
  readonly bytes: Buffer;
  readonly type: string;
  readonly fileName: string;
  readonly rows: number;
}

/** Rows of a table with their heads. A number is exact and a text is of a person or of the page. */
interface TableRows {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

interface Cell {
  readonly text: string;
  readonly isNumber: boolean;
}

type TakeRows = (name: string, make: () => TableRows) => void;

const Taker = createContext<TakeRows>(() => {});

/** Returns the table that an address wants as a file; undefined if it wants the page. */
export function wantedTable(query: string): WantedTable | undefined {
  const parameters = new URLSearchParams(query);
  for (const format of FILE_FORMATS) {
    const name = parameters.get(format);
    if (name !== null) return { name, format };
  }
  return undefined;
}

/** Returns the table of a page's content as a file, with its rows as sorted and found; undefined if the content has no such table. */
export function tableFile(content: ComponentChildren, { name, format }: WantedTable): TableFile | undefined {
  let found: TableRows | undefined;
  const take: TakeRows = (table, make) => {
    if (table === name) found = make();
  };
  render(<Taker.Provider value={take}>{content}</Taker.Provider>);
  if (found === undefined) return undefined;
  const { heads, rows } = found;
  return {
    bytes: Buffer.from(format === "csv" ? csvOf(heads, rows) : jsonOf(heads, rows)),
    type: MEDIA_TYPES[format],
    fileName: `${name}.${format}`,
    rows: rows.length,
  };
}

/** Gives the rows of a table to the file that an address wants. */
export function useTableFile<Row>(
  name: string | undefined,
  columns: readonly {
    readonly head: string;
    readonly isNumber?: boolean;
    readonly cell: (row: Row) => ComponentChildren;
  }[],
  rows: readonly Row[],
): void {
  const take = useContext(Taker);
  if (name === undefined) return;
  take(name, () => ({
    heads: columns.map(({ head }) => head),
    rows: rows.map((row) =>
      columns.map(({ cell, isNumber = false }) => {
        const text = exactText(cell(row));
        return { text, isNumber: isNumber && /^-?\d+(\.\d+)?$/.test(text) };
      }),
    ),
  }));
}

/** The links to a table as a file. */
export function FileLinks({ addressOf }: { readonly addressOf: (format: FileFormat) => string }): VNode {
  return (
    <>
      {FILE_FORMATS.map((format) => (
        <a href={addressOf(format)}>{format.toUpperCase()}</a>
      ))}
    </>
  );
}

/** Returns the text of a cell. An amount and a time have their exact value instead of the shown one. */
function exactText(shown: ComponentChildren): string {
  return render(<>{shown}</>)
    .replaceAll(/<(?:data[^>]* value|time[^>]* datetime)="([^"]*)"[^>]*>.*?<\/(?:data|time)>/gs, "$1")
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll(/&(lt|gt|quot|amp|#39);/g, (_, name: keyof typeof ENTITIES) => ENTITIES[name])
    .replace(/^–$/, "");
}

const ENTITIES = { lt: "<", gt: ">", quot: '"', amp: "&", "#39": "'" } as const;

function csvOf(heads: readonly string[], rows: TableRows["rows"]): string {
  const cells = rows.map((row) => row.map(({ text, isNumber }) => (isNumber ? { number: text } : { text })));
  return formatCsv([heads.map((text) => ({ text })), ...cells]);
}

/** Amounts are texts, because a number of JSON is not exact. */
function jsonOf(heads: readonly string[], rows: TableRows["rows"]): string {
  return JSON.stringify(rows.map((row) => Object.fromEntries(heads.map((head, index) => [head, row[index]!.text]))));
}
