/** The one client of the store: a real ClickHouse and the embedded one look the same through it. */
import { Readable } from "node:stream";

import { createClient } from "@clickhouse/client";
import type { ClickHouseSettings } from "@clickhouse/client";

import { inPieces } from "./long-parameters.ts";
import { sqlIdentifier } from "./sql-tokens.ts";
import { storeErrorOf } from "./store-error.ts";

/** Where the store is and who asks. */
export interface StoreClientOptions {
  /** `http://host:8123` or `https://…`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** Longest wait for an answer, 60 s by default. */
  readonly requestTimeoutMillis?: number;
  /** Sockets at once, 10 by default. */
  readonly maxConnections?: number;
  /** Pack bodies and answers with gzip; worth it across a network, not on one machine. Off by default. */
  readonly gzip?: boolean;
  /** Settings of every insert, `insert_quorum` for replicated money for one. */
  readonly insertSettings?: Readonly<Record<string, string | number>>;
}

/** Values of `{name:Type}` placeholders. Decimals and large integers travel as strings. */
export type StoreParameters = Readonly<Record<string, unknown>>;

/** The rows of an insert, whole or in parts. */
export type InsertBody = Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array>;

/** What an insert did. */
export interface InsertOutcome {
  /** Rows as the server counts them: those of dependent views are among them. */
  readonly writtenRows: number;
}

/** How an insert is made. */
export interface InsertOptions {
  /**
   * Of all inserts into a table that carry one token, the store keeps the first and acknowledges the others without keeping them, as
   * far back as the table's deduplication window reaches.
   */
  readonly onceFor?: string;
}

/** How rows are inserted. */
export interface RowsOptions {
  /**
   * Leaves rows of one key to the table's merges, as those of several inserts are, where an insert else merges its own rows first: a fifth of
   * what the insert of samples costs. For tables whose readers expect a replay's rows twice.
   */
  readonly unmerged?: boolean;
}

/** The client. Every method fails with a `StoreError`. */
export interface StoreClient {
  readonly database: string;
  /** Inserts rows in blocks of the Native format. An acknowledged insert is in the table; one that failed may be in it too. */
  insertRows(
    table: string,
    columns: readonly string[],
    body: InsertBody,
    options?: RowsOptions,
  ): Promise<InsertOutcome>;
  /** Inserts objects as JSONEachRow; for a few rows, where blocks are not worth their code. */
  insertJson(table: string, rows: readonly object[], options?: InsertOptions): Promise<InsertOutcome>;
  /** All rows. Decimals and 64-bit integers are strings; whoever asks checks the shape. */
  query<Row>(sql: string, parameters?: StoreParameters): Promise<readonly Row[]>;
  /** Rows in portions, for results that should not be held at once on this side. */
  stream<Row>(sql: string, parameters?: StoreParameters): AsyncIterable<readonly Row[]>;
  /** The answer in a format of ClickHouse's, `CSV` or `RowBinary`, as it comes, with its settings. */
  bytes(
    sql: string,
    parameters: StoreParameters,
    format: string,
    settings?: Readonly<Record<string, string | number>>,
  ): AsyncIterable<Uint8Array>;
  /** Runs a statement that gives no rows. */
  command(sql: string, parameters?: StoreParameters): Promise<void>;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Said with every statement, as releases of ClickHouse change what they do unasked: since 26.2 `async_insert` and
 * `deduplicate_blocks_in_dependent_materialized_views` are on. Deduplication is off altogether, because it is not
 * atomic with a crash: rows are keyed so that a replay is harmless; {@link InsertOptions} ask for it one by one. `wait_end_of_query` makes an error arrive as an
 * error, and not behind half a result.
 */
const statementSettings: ClickHouseSettings = {
  async_insert: 0,
  wait_for_async_insert: 1,
  insert_deduplicate: 0,
  deduplicate_blocks_in_dependent_materialized_views: 0,
  wait_end_of_query: 1,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  date_time_input_format: "best_effort",
};

/** Makes a client. Nothing is sent yet. */
export function createStoreClient(options: StoreClientOptions): StoreClient {
  const client = createClient({
    url: options.url,
    username: options.username,
    password: options.password,
    database: options.database,
    request_timeout: options.requestTimeoutMillis ?? 60_000,
    // The names of a slice of nodes or pods are longer than a URL may be.
    use_multipart_params_auto: true,
    max_open_connections: options.maxConnections ?? 10,
    compression: { request: options.gzip === true, response: options.gzip === true },
    // Errors are thrown and told by whoever catches them; the client's own log would say them twice.
    log: { level: 127 },
    clickhouse_settings: statementSettings,
  });
  const insertSettings: ClickHouseSettings = { ...options.insertSettings };

  return {
    database: options.database,
    async insertRows(table, columns, body, { unmerged = false } = {}) {
      const names = columns.map(sqlIdentifier).join(", ");
      try {
        const result = await client.exec({
          query: `INSERT INTO ${sqlIdentifier(table)} (${names}) FORMAT Native`,
          values: body instanceof Uint8Array ? Readable.from([body]) : Readable.from(body, { objectMode: false }),
          clickhouse_settings: unmerged ? { ...insertSettings, optimize_on_insert: 0 } : insertSettings,
        });
        // The socket is free for the next insert when the empty answer has been read.
        for await (const _ of result.stream) void _;
        return { writtenRows: Number(result.summary?.written_rows ?? 0) };
      } catch (error) {
        throw storeErrorOf(error);
      }
    },
    async insertJson(table, rows, { onceFor } = {}) {
      const once = onceFor === undefined ? {} : { insert_deduplicate: 1 as const, insert_deduplication_token: onceFor };
      const result = await client
        .insert({
          table: sqlIdentifier(table),
          values: [...rows],
          format: "JSONEachRow",
          clickhouse_settings: { ...insertSettings, ...once },
        })
        .catch(rethrow);
      return { writtenRows: Number(result.summary?.written_rows ?? 0) };
    },
    async query<Row>(sql: string, parameters: StoreParameters = {}) {
      try {
        const result = await client.query({ ...asked(sql, parameters), format: "JSONEachRow" });
        return await result.json<Row>();
      } catch (error) {
        throw storeErrorOf(error);
      }
    },
    async *stream<Row>(sql: string, parameters: StoreParameters = {}) {
      try {
        const result = await client.query({ ...asked(sql, parameters), format: "JSONEachRow" });
        for await (const rows of result.stream<Row>()) yield rows.map((row) => row.json<Row>());
      } catch (error) {
        throw storeErrorOf(error);
      }
    },
    async *bytes(sql, parameters, format, settings = {}) {
      try {
        const { query, query_params } = asked(`${sql}\nFORMAT ${sqlIdentifier(format)}`, parameters);
        const result = await client.exec({
          query,
          ...(await carried(query_params)),
          clickhouse_settings: settings,
        });
        for await (const part of result.stream) yield part as Uint8Array;
      } catch (error) {
        throw storeErrorOf(error);
      }
    },
    async command(sql, parameters = {}) {
      await client.command(asked(sql, parameters)).catch(rethrow);
    },
    async ping() {
      const result = await client.ping();
      if (!result.success) throw storeErrorOf(result.error);
    },
    async close() {
      await client.close();
    },
  };
}

function asked(sql: string, parameters: StoreParameters) {
  const { sql: query, parameters: pieces } = inPieces({ sql, parameters });
  return { query, query_params: { ...pieces } };
}

/** A text that is longer goes into a form: a URL must not be much longer. */
const LONGEST_IN_URL = 4_096;

/**
 * How parameters travel with a statement whose answer is bytes. The client's own questions put all of them into a form where they are
 * long; its `exec` never does.
 */
async function carried(parameters: StoreParameters) {
  const isLong = ([, value]: readonly [string, unknown]): boolean =>
    typeof value === "string" && value.length > LONGEST_IN_URL;
  const entries = Object.entries(parameters);
  const query_params = Object.fromEntries(entries.filter((entry) => !isLong(entry)));
  const long = entries.filter(isLong);
  if (long.length === 0) return { query_params };
  const form = new FormData();
  for (const [name, text] of long) form.set(`param_${name}`, escaped(text as string));
  const body = new Response(form);
  const values = Readable.from([Buffer.from(await body.arrayBuffer())]);
  return { query_params, values, http_headers: { "content-type": body.headers.get("content-type")! } };
}

/** A text as ClickHouse reads one outside of a statement (its format TabSeparated). */
function escaped(text: string): string {
  const signs: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
  return text.replaceAll(/[\\\t\n\r]/g, (sign) => signs[sign]!);
}

function rethrow(error: unknown): never {
  throw storeErrorOf(error);
}
