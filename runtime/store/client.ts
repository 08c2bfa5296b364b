import type { StoreParameters } from "./store-parameters.ts";
/** The store's client. It works the same with a real ClickHouse and with the embedded one. */
import { Readable } from "node:stream";

import { createClient } from "@clickhouse/client";
import type { ClickHouseSettings } from "@clickhouse/client";

import { inPieces } from "./long-parameters.ts";
import { sqlIdentifier } from "./sql-tokens.ts";
import { storeErrorOf } from "./client-error.ts";

/** The store's address, the credentials, and the connection settings. */
export interface StoreClientOptions {
  /** `http://host:8123` or `https://…`. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** The longest wait for an answer: 60 s by default. */
  readonly requestTimeoutMillis?: number;
  /** Open sockets at the same time: at most 10 by default. */
  readonly maxConnections?: number;
  /** Compresses requests and responses with gzip. Useful across a network, not on one machine. Off by default. */
  readonly gzip?: boolean;
  /** Settings for every insert, for example `insert_quorum` for replicated charges. */
  readonly insertSettings?: Readonly<Record<string, string | number>>;
}

/** The rows of an insert: blocks in one piece or a block in each piece, or a stream. */
export type InsertBody = Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array>;

/** The result of an insert. */
export interface InsertOutcome {
  /** Rows as the server counts them. The rows of dependent views are included. */
  readonly writtenRows: number;
}

/** Options of a JSON insert. */
export interface InsertOptions {
  /**
   * A deduplication token. Of all inserts into one table with the same token, the store keeps the first and acknowledges the others without
   * storing them. This holds within the table's deduplication window.
   */
  readonly onceFor?: string;
}

/** Options of an insert in the Native format. */
export interface RowsOptions {
  /**
   * Does not merge the rows of the insert that have the same key (`optimize_on_insert: 0`). The table's merges do it later, as they do for
   * rows of several inserts. Merging costs a fifth of an insert of samples. For tables whose readers expect the rows of a replay twice.
   */
  readonly unmerged?: boolean;
}

/** The bounds of the queries of one caller. */
export interface QueryBounds {
  /** The caller's name. ClickHouse counts quotas by it (`quota_key`), and the embedded store runs such queries in a lane of their own. */
  readonly caller: string;
  /** Settings that limit each query, for example `max_execution_time`. */
  readonly settings: Readonly<Record<string, string | number>>;
  /** When it is aborted, queries fail with the code `canceled`, and the store stops them. */
  readonly signal: AbortSignal;
}

/** The store client. Every method fails with a `StoreError`. */
export interface StoreClient {
  readonly database: string;
  /**
   * Inserts rows in blocks of the Native format. Many bytes of blocks go in several requests, because stores limit the size of one. The rows
   * of an acknowledged insert are in the table. The rows of a failed insert, or a part of them, may be there too.
   */
  insertRows(
    table: string,
    columns: readonly string[],
    body: InsertBody,
    options?: RowsOptions,
  ): Promise<InsertOutcome>;
  /** Inserts objects as JSONEachRow. For a few rows, where Native blocks are not worth the code. */
  insertJson(table: string, rows: readonly object[], options?: InsertOptions): Promise<InsertOutcome>;
  /** Returns all rows. Decimals and 64-bit integers are strings. The caller checks the shape. */
  query<Row>(sql: string, parameters?: StoreParameters): Promise<readonly Row[]>;
  /** Returns the rows in portions, for results that are too large for memory. */
  stream<Row>(sql: string, parameters?: StoreParameters): AsyncIterable<readonly Row[]>;
  /** Streams the raw answer in a ClickHouse format, such as `CSV` or `RowBinary`, with extra settings for this query. */
  bytes(
    sql: string,
    parameters: StoreParameters,
    format: string,
    settings?: Readonly<Record<string, string | number>>,
  ): AsyncIterable<Uint8Array>;
  /** Runs a statement that returns no rows. */
  command(sql: string, parameters?: StoreParameters): Promise<void>;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  /** Returns a client of the same connections whose `query`, `stream` and `bytes` are bounded. */
  bounded(bounds: QueryBounds): StoreClient;
  close(): Promise<void>;
}

/**
 * Settings for every statement. ClickHouse releases change their defaults: since 26.2 `async_insert` and
 * `deduplicate_blocks_in_dependent_materialized_views` are on. Deduplication is off because it is not atomic with a crash. Rows have keys
 * that make a replay harmless. {@link InsertOptions} turn deduplication on for one insert. With `wait_end_of_query`, an error arrives as an
 * error and not after half a result.
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

/** Creates a client. It sends nothing yet. */
export function createStoreClient(options: StoreClientOptions): StoreClient {
  const client = createClient({
    url: options.url,
    username: options.username,
    password: options.password,
    database: options.database,
    request_timeout: options.requestTimeoutMillis ?? 60_000,
    // The names of many nodes or pods can be longer than a URL may be.
    use_multipart_params_auto: true,
    max_open_connections: options.maxConnections ?? 10,
    compression: { request: options.gzip === true, response: options.gzip === true },
    // Errors are thrown, and the caller logs them. The client's own log would repeat them.
    log: { level: 127 },
    clickhouse_settings: statementSettings,
  });
  const insertSettings: ClickHouseSettings = { ...options.insertSettings };
  return clientOf(client, { database: options.database, insertSettings });
}

/** The most bytes of a request. A block alone can have more. */
const BYTES_PER_REQUEST = 64 * 1024 * 1024;

/** Returns the bodies of the requests of an insert. A stream has one. */
function* portionsOf(body: InsertBody): Generator<readonly Uint8Array[] | AsyncIterable<Uint8Array>> {
  if (body instanceof Uint8Array) {
    yield [body];
    return;
  }
  if (Symbol.asyncIterator in body) {
    yield body;
    return;
  }
  let [portion, bytes]: [Uint8Array[], number] = [[], 0];
  for (const block of body) {
    if (portion.length > 0 && bytes + block.length > BYTES_PER_REQUEST) {
      yield portion;
      [portion, bytes] = [[], 0];
    }
    portion.push(block);
    bytes += block.length;
  }
  yield portion;
}

function clientOf(
  client: ReturnType<typeof createClient>,
  of: { readonly database: string; readonly insertSettings: ClickHouseSettings },
  bounds?: QueryBounds,
): StoreClient {
  const { database, insertSettings } = of;
  const { signal } = bounds ?? {};
  /** Adds the bounds to a request for rows. */
  const boundedBy = (settings: ClickHouseSettings = {}) =>
    bounds === undefined
      ? { clickhouse_settings: settings }
      : {
          abort_signal: bounds.signal,
          http_headers: { "x-clickhouse-quota": quotaKeyOf(bounds.caller) },
          clickhouse_settings: {
            ...settings,
            ...bounds.settings,
            cancel_http_readonly_queries_on_client_close: 1 as const,
          },
        };

  return {
    database,
    async insertRows(table, columns, body, { unmerged = false } = {}) {
      const names = columns.map(sqlIdentifier).join(", ");
      let writtenRows = 0;
      try {
        for (const portion of portionsOf(body)) {
          const result = await client.exec({
            query: `INSERT INTO ${sqlIdentifier(table)} (${names}) FORMAT Native`,
            values: Readable.from(portion, { objectMode: false }),
            clickhouse_settings: unmerged ? { ...insertSettings, optimize_on_insert: 0 } : insertSettings,
          });
          // The socket is free for the next insert only after the empty answer was read.
          for await (const _ of result.stream) void _;
          writtenRows += Number(result.summary?.written_rows ?? 0);
        }
        return { writtenRows };
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
        const result = await client.query({ ...asked(sql, parameters), ...boundedBy(), format: "JSONEachRow" });
        return await result.json<Row>();
      } catch (error) {
        throw storeErrorOf(error, signal);
      }
    },
    async *stream<Row>(sql: string, parameters: StoreParameters = {}) {
      try {
        const result = await client.query({ ...asked(sql, parameters), ...boundedBy(), format: "JSONEachRow" });
        for await (const rows of result.stream<Row>()) yield rows.map((row) => row.json<Row>());
        signal?.throwIfAborted();
      } catch (error) {
        throw storeErrorOf(error, signal);
      }
    },
    async *bytes(sql, parameters, format, settings = {}) {
      try {
        const { query, query_params } = asked(`${sql}\nFORMAT ${sqlIdentifier(format)}`, parameters);
        const { http_headers: ofForm, ...rest } = await carried(query_params);
        const { http_headers: ofBounds, ...bounded } = boundedBy(settings);
        const result = await client.exec({ query, ...rest, ...bounded, http_headers: { ...ofForm, ...ofBounds } });
        for await (const part of result.stream) yield part as Uint8Array;
        // An aborted stream ends without an error.
        signal?.throwIfAborted();
      } catch (error) {
        throw storeErrorOf(error, signal);
      }
    },
    async command(sql, parameters = {}) {
      await client.command(asked(sql, parameters)).catch(rethrow);
    },
    async ping() {
      const result = await client.ping();
      if (!result.success) throw storeErrorOf(result.error);
    },
    bounded: (narrower) => clientOf(client, of, narrower),
    async close() {
      await client.close();
    },
  };
}

/** Returns a caller's name as a header can have it. */
function quotaKeyOf(caller: string): string {
  return encodeURIComponent(Buffer.from(caller).toString().slice(0, LONGEST_CALLER));
}

const LONGEST_CALLER = 200;

function asked(sql: string, parameters: StoreParameters) {
  const { sql: query, parameters: pieces } = inPieces({ sql, parameters });
  return { query, query_params: { ...pieces } };
}

/**
 * The longest parameter, in characters, that is sent in the URL. A longer one is sent in a form, because the length of a URL is limited.
 */
const LONGEST_IN_URL = 4_096;

/**
 * Returns the parameters of a statement in the form that the client's `exec` needs. The client's `query` moves long parameters into a form
 * itself; its `exec` never does.
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

/** Escapes a text as ClickHouse reads one outside of a statement (its format TabSeparated). */
function escaped(text: string): string {
  const signs: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
  return text.replaceAll(/[\\\t\n\r]/g, (sign) => signs[sign]!);
}

function rethrow(error: unknown): never {
  throw storeErrorOf(error);
}
