/** Runs what a request asks for, in its lane and with the rights of its user. */
import { splitSettings } from "./connection-settings.ts";
import type { StoreRole } from "./credentials.ts";
import type { Engine, EngineConnection } from "./engine.ts";
import { FaceError } from "./face-error.ts";
import type { StatementRequest } from "./http-request.ts";
import { renderInsertFromFile } from "./insert-statement.ts";
import { createLane, laneSizes } from "./lane.ts";
import type { Lane, LaneName } from "./lane.ts";
import { frameNativeBlocks } from "./native-blocks.ts";
import { createFunctionPolicy } from "./reader-functions.ts";
import type { FunctionPolicy } from "./reader-functions.ts";
import { checkReaderDatabase, checkReaderStatement } from "./reader-policy.ts";
import { readerSettings } from "./reader-settings.ts";
import type { ReaderLimits } from "./reader-settings.ts";
import type { Statement } from "./request-body.ts";
import { sqlIdentifier, sqlString } from "../sql-tokens.ts";
import { formatClauseOf, namesLocalFile } from "./statement-text.ts";

/** Limits of what runs. A result is held in memory whole, so it is bounded for everybody. */
export interface RunnerLimits {
  readonly reader: ReaderLimits;
  readonly internalMaxResultBytes: number;
}

/** What came of a statement. */
export interface Answer {
  readonly bytes: Buffer;
  readonly format: string;
  readonly readRows: number;
  readonly readBytes: number;
  readonly writtenRows: number;
  readonly writtenBytes: number;
  readonly elapsedNanoseconds: number;
}

/** Runs statements. Every failure is a `FaceError`. */
export interface StatementRunner {
  run(role: StoreRole, request: StatementRequest, statement: Statement, signal: AbortSignal): Promise<Answer>;
  /** Resolves when the engine has answered a trivial statement. */
  ping(): Promise<void>;
}

/** The engine's classes of statements (see `NativeClassification`). */
const readsOnly = 0;
const controls = 3;
const doesNotParse = 4;

/** Makes a runner; asks the engine once which functions it has. */
export async function createStatementRunner(engine: Engine, limits: RunnerLimits): Promise<StatementRunner> {
  const lanes = Object.fromEntries(
    Object.entries(laneSizes).map(([name, size]) => [name, createLane(name, size)]),
  ) as Readonly<Record<LaneName, Lane>>;
  const functions = await readFunctionPolicy(engine);

  async function runAsReader(request: StatementRequest, sql: string): Promise<Answer> {
    if (request.database !== undefined) checkReaderDatabase(request.database);
    return await engine.withConnection(readerSettings(request.settings, limits.reader), async (connection) => {
      await prepare(connection, request, new Map());
      // Nothing of the text runs before its class is known: the engine would run what stands behind a semicolon.
      const { statementCount, queryClass } = await connection.classify(sql);
      refuseSeveral(statementCount);
      if (queryClass === doesNotParse) await failWithSyntaxError(connection, sql);
      if (queryClass !== readsOnly) throw new FaceError(497, "reader: Not enough privileges: a reader may only read");
      const dump = await connection.query(`EXPLAIN AST ${sql}`, "TSVRaw");
      checkReaderStatement(sql, dump.bytes.toString("utf8"), functions);
      return await read(connection, request, sql);
    });
  }

  async function runAsInternal(request: StatementRequest, sql: string): Promise<Answer> {
    const { ofConnection, others } = splitSettings(request.settings);
    const settings = {
      ...ofConnection,
      max_result_bytes: limits.internalMaxResultBytes,
      ...(request.readOnly ? { readonly: 2 } : {}),
    };
    return await engine.withConnection(settings, async (connection) => {
      await prepare(connection, request, others);
      const { statementCount, queryClass } = await connection.classify(sql);
      refuseSeveral(statementCount);
      if (queryClass === controls && namesLocalFile(sql)) {
        throw new FaceError(497, "Not enough privileges: a statement must not name files of this machine");
      }
      return await read(connection, request, sql);
    });
  }

  async function insert(request: StatementRequest, statement: Statement & { kind: "insert" }): Promise<Answer> {
    if (request.readOnly) throw new FaceError(164, "Cannot insert in readonly mode: use POST");
    const { ofConnection, others } = splitSettings(request.settings);
    return await engine.withConnection(ofConnection, async (connection) => {
      await prepare(connection, request, others);
      const result = await connection.query(renderInsertFromFile(statement.insert, statement.file), "Null");
      return {
        bytes: Buffer.alloc(0),
        format: statement.insert.format,
        readRows: result.rowsRead,
        readBytes: statement.bytes,
        writtenRows: result.rowsRead,
        writtenBytes: result.bytesRead,
        elapsedNanoseconds: Math.round(result.elapsed * 1e9),
      };
    });
  }

  return {
    async run(role, request, statement, signal) {
      if (role === "reader") {
        if (statement.kind === "insert")
          throw new FaceError(497, "reader: Not enough privileges: a reader may only read");
        return await lanes.readers.run(() => runAsReader(request, statement.sql), signal);
      }
      if (statement.kind === "insert") return await lanes.inserts.run(() => insert(request, statement), signal);
      return await lanes.internal.run(() => runAsInternal(request, statement.sql), signal);
    },
    async ping() {
      await lanes.ping.run(() => engine.withConnection({}, (connection) => connection.query("SELECT 1", "Null")));
    },
  };
}

/** Settings, database and parameters come first, in one script; a connection forgets them when it is closed. */
async function prepare(
  connection: EngineConnection,
  request: StatementRequest,
  settings: ReadonlyMap<string, string>,
): Promise<void> {
  const script: string[] = [];
  for (const [name, value] of settings) script.push(`SET ${checkedName(name, "setting")} = ${sqlString(value)}`);
  for (const [name, value] of request.parameters) {
    script.push(`SET param_${checkedName(name, "parameter")} = ${sqlString(value)}`);
  }
  if (request.database !== undefined && request.database !== "" && request.database !== "default") {
    script.push(`USE ${sqlIdentifier(request.database)}`);
  }
  if (script.length === 0) return;
  const text = script.join(";\n");
  // A server has parameters beside the statement, and its limit is the statement's alone.
  if (text.length > longestScript) await connection.query(`SET max_query_size = ${4 * text.length}`, "Null");
  await connection.query(text, "Null");
}

/** Well below what the engine parses unasked, 256 KiB, in characters of up to four bytes. */
const longestScript = 60_000;

function checkedName(name: string, kind: string): string {
  if (!/^[A-Za-z0-9_]{1,128}$/.test(name)) throw new FaceError(115, `${JSON.stringify(name)} is no name of a ${kind}`);
  return name;
}

/** Has the engine parse a text as a value: it says where the text goes wrong and cannot run any of it. */
async function failWithSyntaxError(connection: EngineConnection, sql: string): Promise<never> {
  await connection.query(`SELECT formatQuery(${sqlString(sql)})`, "Null");
  throw new FaceError(62, "Syntax error: this is not one statement that the engine knows");
}

function refuseSeveral(statementCount: number): void {
  if (statementCount > 1) throw new FaceError(62, "Multi-statements are not allowed");
}

async function read(connection: EngineConnection, request: StatementRequest, sql: string): Promise<Answer> {
  const result = await connection.query(sql, request.defaultFormat);
  const format = formatClauseOf(sql) ?? request.defaultFormat;
  return {
    bytes: format === "Native" ? frameNativeBlocks(result.bytes, request.protocolVersion) : result.bytes,
    format,
    readRows: result.rowsRead,
    readBytes: result.bytesRead,
    writtenRows: 0,
    writtenBytes: 0,
    elapsedNanoseconds: Math.round(result.elapsed * 1e9),
  };
}

async function readFunctionPolicy(engine: Engine): Promise<FunctionPolicy> {
  return await engine.withConnection({}, async (connection) => {
    const rows = await connection.query(
      "SELECT name, is_aggregate, case_insensitive, alias_to, categories FROM system.functions",
      "JSONCompactEachRow",
    );
    const combinators = await connection.query("SELECT name FROM system.aggregate_function_combinators", "TSVRaw");
    const functions = lines(rows.bytes).map((line) => {
      const [name, aggregate, caseInsensitive, aliasTo, category] = JSON.parse(line) as [
        string,
        number,
        number,
        string,
        string,
      ];
      return { name, aggregate: aggregate === 1, caseInsensitive: caseInsensitive === 1, aliasTo, category };
    });
    return createFunctionPolicy(functions, lines(combinators.bytes));
  });
}

function lines(bytes: Buffer): readonly string[] {
  return bytes
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
}
