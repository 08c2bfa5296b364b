/** The parsing of a request to ClickHouse's HTTP interface, from its line and headers alone. */
import type { IncomingHttpHeaders } from "node:http";

import type { StoreUser } from "./credentials.ts";
import { AdapterError } from "./adapter-error.ts";

/** A parsed request. */
export interface StatementRequest {
  /** The statement in the URL. The body follows it. */
  readonly urlQuery: string;
  readonly database: string | undefined;
  readonly defaultFormat: string;
  /** Values of `{name:Type}` placeholders, escaped as in TabSeparated, as in ClickHouse's interface. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
  readonly bodyEncoding: "identity" | "gzip" | "deflate";
  /** The content type of a body that is a form with the statement and parameters as fields; undefined for a plain body. */
  readonly form: string | undefined;
  readonly acceptsGzip: boolean;
  /** GET may only read, as with a server. */
  readonly readOnly: boolean;
  /** The caller whose question this is, by ClickHouse's name for it; undefined for a statement of the program itself. */
  readonly quotaKey: string | undefined;
  /** True if the statement stops when its client disconnects. */
  readonly stopsWithClient: boolean;
}

/** Parameters of the interface itself. They are not settings of the engine, or have no effect on a complete result. */
const interfaceParameters = new Set([
  "query",
  "query_id",
  "database",
  "default_format",
  "user",
  "password",
  "quota_key",
  "role",
  "compress",
  "decompress",
  "enable_http_compression",
  "http_zlib_compression_level",
  "wait_end_of_query",
  "buffer_size",
  "send_progress_in_http_headers",
  "http_headers_progress_interval_ms",
  "http_write_exception_in_output_format",
  "cancel_http_readonly_queries_on_client_close",
  "client_protocol_version",
  "session_timeout",
  "session_check",
  "close_session",
  "stacktrace",
]);

/** Parses the request's line and headers. Fails with 48 for features that this adapter does not have. */
export function readStatementRequest(method: string, url: URL, headers: IncomingHttpHeaders): StatementRequest {
  const search = url.searchParams;
  refuseWhatIsMissing(search);
  const parameters = new Map<string, string>();
  const settings = new Map<string, string>();
  for (const [name, value] of search) {
    if (name.startsWith("param_")) parameters.set(name.slice("param_".length), value);
    else if (!interfaceParameters.has(name)) settings.set(name, value);
  }
  return {
    urlQuery: search.get("query") ?? "",
    database: search.get("database") ?? header(headers, "x-clickhouse-database"),
    defaultFormat: search.get("default_format") ?? header(headers, "x-clickhouse-format") ?? "TabSeparated",
    parameters,
    settings,
    bodyEncoding: bodyEncoding(headers["content-encoding"]),
    form: /^multipart\/form-data\b/i.test(headers["content-type"] ?? "") ? headers["content-type"] : undefined,
    acceptsGzip: search.get("enable_http_compression") === "1" && /\bgzip\b/.test(headers["accept-encoding"] ?? ""),
    readOnly: method !== "POST",
    quotaKey: search.get("quota_key") ?? header(headers, "x-clickhouse-quota"),
    stopsWithClient: search.get("cancel_http_readonly_queries_on_client_close") === "1",
  };
}

/** Returns the user that the request names: in ClickHouse's headers, in basic authorization, or in the URL, in this order. */
export function readClaimedUser(url: URL, headers: IncomingHttpHeaders): StoreUser {
  const user = header(headers, "x-clickhouse-user");
  if (user !== undefined) return { username: user, password: header(headers, "x-clickhouse-key") ?? "" };
  const basic = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(headers.authorization ?? "")?.[1];
  if (basic !== undefined) {
    const [username = "", ...password] = Buffer.from(basic, "base64").toString("utf8").split(":");
    return { username, password: password.join(":") };
  }
  return {
    username: url.searchParams.get("user") ?? "default",
    password: url.searchParams.get("password") ?? "",
  };
}

function refuseWhatIsMissing(search: URLSearchParams): void {
  for (const name of ["compress", "decompress"]) {
    if (search.get(name) === "1") {
      throw new AdapterError(
        48,
        `${name}=1 requests ClickHouse's own block compression, which the embedded store does not support; use gzip`,
      );
    }
  }
  if ((search.get("session_id") ?? "") !== "") {
    throw new AdapterError(48, "The embedded store has no sessions; omit session_id");
  }
}

function bodyEncoding(encoding: string | undefined): StatementRequest["bodyEncoding"] {
  if (encoding === undefined || encoding === "" || encoding === "identity") return "identity";
  if (encoding === "gzip" || encoding === "deflate") return encoding;
  throw new AdapterError(89, `Unknown compression method ${encoding} of the request's body; use gzip`);
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
