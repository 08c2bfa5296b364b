/** The errors of the HTTP adapter, with ClickHouse's own numbers, so that every client reads them like a server's errors. */

/** ClickHouse's names of the error codes that the adapter itself returns (src/Common/ErrorCodes.cpp). */
const adapterErrorNames = {
  36: "BAD_ARGUMENTS",
  48: "NOT_IMPLEMENTED",
  60: "UNKNOWN_TABLE",
  62: "SYNTAX_ERROR",
  89: "UNKNOWN_COMPRESSION_METHOD",
  115: "UNKNOWN_SETTING",
  164: "READONLY",
  187: "QUERY_IS_TOO_LARGE",
  202: "TOO_MANY_SIMULTANEOUS_QUERIES",
  243: "NOT_ENOUGH_SPACE",
  394: "QUERY_WAS_CANCELLED",
  396: "TOO_MANY_ROWS_OR_BYTES",
  497: "ACCESS_DENIED",
  516: "AUTHENTICATION_FAILED",
  1000: "POCO_EXCEPTION",
  1001: "STD_EXCEPTION",
} as const;

/** An error with ClickHouse's number and name. */
export class AdapterError extends Error {
  readonly clickhouseCode: number;
  readonly clickhouseName: string;

  constructor(clickhouseCode: number, message: string, options: { name?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "AdapterError";
    this.clickhouseCode = clickhouseCode;
    this.clickhouseName =
      options.name ?? (adapterErrorNames as Readonly<Record<number, string>>)[clickhouseCode] ?? "STD_EXCEPTION";
  }
}

const enginePattern = /^Code: (\d+)\. (?:DB::)?Exception: ([\s\S]*?)\s*\(([A-Z0-9_]+)\)\s*$/;

/** Parses an exception of the engine (`Code: 60. DB::Exception: … (UNKNOWN_TABLE)`). Anything else becomes 1001. */
export function adapterErrorOf(error: unknown): AdapterError {
  if (error instanceof AdapterError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const found = enginePattern.exec(message);
  if (found === null) return new AdapterError(1001, message, { cause: error });
  return new AdapterError(Number(found[1]), found[2] ?? "", { name: found[3] ?? "STD_EXCEPTION", cause: error });
}

/** Returns the body that a ClickHouse server sends with an error. Clients parse exactly this format. */
export function renderAdapterError(error: AdapterError, version: string): string {
  const dot = /[.!?]$/.test(error.message) ? "" : ".";
  const kind = error.clickhouseName;
  return `Code: ${error.clickhouseCode}. DB::Exception: ${error.message}${dot} (${kind}) (version ${version})\n`;
}

const badRequestCodes = new Set([26, 27, 36, 42, 43, 44, 46, 47, 53, 62, 69, 70, 72, 115, 117, 130, 456, 457]);
const notFoundCodes = new Set([60, 81, 82]);
const forbiddenCodes = new Set([164, 192, 193, 497, 516]);

/**
 * Returns the HTTP status of an error code, like `exceptionCodeToHTTPStatus` of ClickHouse's server. Overload is a 503 (a server returns
 * 500), because clients and proxies retry after a 503.
 */
export function httpStatusOf(clickhouseCode: number): number {
  if (forbiddenCodes.has(clickhouseCode)) return 403;
  if (badRequestCodes.has(clickhouseCode)) return 400;
  if (notFoundCodes.has(clickhouseCode)) return 404;
  if (clickhouseCode === 48 || clickhouseCode === 89) return 501;
  if (clickhouseCode === 159) return 408;
  if (clickhouseCode === 187) return 413;
  if (clickhouseCode === 202) return 503;
  return 500;
}
