import type { Column, ClickHouseQuery, Panel } from "../../../dashboards/model.ts";

/** A reader of a store: the settings of a data source of Grafana. */
export interface Reader {
  readonly url: string;
  readonly database: string;
  readonly username: string;
  readonly password: string;
}

/** An answer: its columns with their types, and its rows, every value as text, so that decimals keep their digits. */
export interface Answer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** The text for NULL in this format. */
const NULL = "ᴺᵁᴸᴸ";

/** Sends a query to a store over HTTP, as the data source does. Fails with the store's error message. */
export async function askStore({ url, database, username, password }: Reader, sql: string): Promise<Answer> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const response = await fetch(`${url}/?database=${database}&default_format=JSONCompactStrings`, {
    method: "POST",
    headers: { authorization },
    body: sql,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${text}\n${sql}`);
  const { meta, data } = JSON.parse(text) as {
    readonly meta: Answer["columns"];
    readonly data: readonly (readonly string[])[];
  };
  return { columns: meta, rows: data.map((row) => row.map((value) => (value === NULL ? null : value))) };
}

/** The problems of an answer for the panel that sent the query, in sentences: the parts that Grafana could not show. */
export function remarks({ columns, rows }: Answer, { as }: ClickHouseQuery, { view }: Panel): readonly string[] {
  const names = columns.map(({ name }) => name);
  if (as === "range") {
    const [time, ...drawn] = columns;
    const at = rows.map(([moment]) => String(moment));
    const isNumber = (type: string): boolean => /^(Nullable\()?(U?Int|Float|Decimal)/.test(type);
    return [
      ...(time!.type.startsWith("DateTime") && time!.name === "time"
        ? []
        : [`the first column is ${time!.name} ${time!.type}`]),
      ...(drawn.some(({ type }) => isNumber(type)) ? [] : ["nothing is drawn"]),
      ...(at.every((moment, place) => place === 0 || moment >= at[place - 1]!) ? [] : ["times are in no order"]),
    ];
  }
  if (view.kind !== "table") return columns.length === 1 && rows.length === 1 ? [] : ["not one figure"];
  const shown: readonly Column[] = view.columns;
  return shown.filter(({ field }) => !names.includes(field)).map(({ field }) => `there is no column ${field}`);
}

/** True if an answer has no content: no row, or only NULL or NaN figures. */
export function isEmpty({ rows }: Answer): boolean {
  return rows.every((row) => row.every((value) => value === null));
}
