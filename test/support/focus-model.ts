import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder beside the project with the data model and the JSON schemas of FOCUS 1.4. CI has it; elsewhere it can be missing. */
const FOLDER = resolve("../shared/focus-1.4");

/** True if the model and the schemas are beside the project. */
export const HAS_FOCUS_MODEL = existsSync(FOLDER);

/** A column of the model. */
export interface ModelColumn {
  readonly feature_level: string;
  readonly allows_nulls: boolean;
  readonly data_type: string;
  readonly allowed_values: readonly string[] | null;
  readonly numeric_range: readonly [number, number] | null;
}

/** Returns the columns of a dataset of the model, by the dataset's id. */
export function modelColumns(id: string): Readonly<Record<string, ModelColumn>> {
  const { datasets } = read("focus_1_4_model.json") as {
    readonly datasets: Readonly<
      Record<string, { readonly dataset_id: string; readonly columns: Record<string, ModelColumn> }>
    >;
  };
  return Object.values(datasets).find(({ dataset_id }) => dataset_id === id)!.columns;
}

/** Returns the JSON schema of an object column: `contractapplied`. */
export function objectSchema(column: string): object {
  return read(`${column}objectschema.json`) as object;
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(join(FOLDER, name), "utf8"));
}
