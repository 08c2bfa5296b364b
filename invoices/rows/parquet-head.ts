import type { FileMetaData, SchemaElement } from "hyparquet";
import { createHead, NO_COLUMN, type ExportHead } from "../../domain/invoice/dialect/dialect.ts";
import type { ParquetColumn } from "./parquet-cells.ts";

/** The columns of a Parquet file. */
export interface ParquetHead extends ExportHead {
  readonly columns: readonly ParquetColumn[];
  /** Returns the columns that a dialect has asked for. */
  asked(): readonly ParquetColumn[];
}

/** Returns the head of a Parquet file. A field of a structure is a column with dots: `project.id`. Lists and maps are columns as a whole. */
export function createParquetHead({ schema }: FileMetaData): ParquetHead {
  const columns = columnsOf(schema);
  const head = createHead(columns.map(({ name }) => name));
  const asked = new Set<number>();
  return {
    ...head,
    columns,
    column(...names) {
      const column = head.column(...names);
      if (column !== NO_COLUMN) asked.add(column);
      return column;
    },
    asked: () => [...asked].map((column) => columns[column]!),
  };
}

/** Walks through the schema, which is a list in which the children of a group follow the group. */
function columnsOf(schema: readonly SchemaElement[]): readonly ParquetColumn[] {
  const columns: ParquetColumn[] = [];
  let at = 1;
  const skip = (): void => {
    const children = schema[at]!.num_children ?? 0;
    at += 1;
    for (let child = 0; child < children; child++) skip();
  };
  const walk = (path: readonly string[]): void => {
    const element = schema[at]!;
    const own = [...path, element.name];
    const isWhole = element.converted_type !== undefined || element.logical_type !== undefined;
    const children = element.num_children ?? 0;
    if (children === 0 || isWhole || element.repetition_type === "REPEATED") {
      columns.push({
        name: own.join("."),
        root: own[0]!,
        path: own.slice(1),
        element: children === 0 ? element : undefined,
      });
      skip();
      return;
    }
    at += 1;
    for (let child = 0; child < children; child++) walk(own);
  };
  const roots = schema[0]?.num_children ?? 0;
  for (let root = 0; root < roots; root++) walk([]);
  return columns;
}
