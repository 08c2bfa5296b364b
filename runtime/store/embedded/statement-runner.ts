/** Runs the statement of a request in its lane. */
import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import { splitSettings } from "./connection-settings.ts";
import type { Engine, EngineConnection } from "./engine.ts";
import { AdapterError } from "./adapter-error.ts";
import type { StatementRequest } from "./http-request.ts";
import { renderInsertFromFile } from "./insert-statement.ts";
import { createLane, laneSizes, refuseDeparted } from "./lane.ts";
import type { Lane, LaneName } from "./lane.ts";
import type { Statement } from "./request-body.ts";
import { sqlIdentifier, sqlString } from "../sql-tokens.ts";
import { formatClauseOf, namesLocalFile } from "./statement-text.ts";

/** The limits of statements. A result is in memory as a whole. */
export interface RunnerLimits {
  readonly maxResultBytes: number;
}

/** The result of a statement. */
export interface Answer {
  readonly bytes: Buffer;
  readonly format: string;
  readonly readRows: number;
  readonly readBytes: number;
  readonly writtenRows: number;
  readonly writtenBytes: number;
  readonly elapsedNanoseconds: number;
}

/** A runner of statements. Every failure is a `AdapterError`. */
export interface StatementRunner {
  run(request: StatementRequest, statement: Statement, signal: AbortSignal): Promise<Answer>;
  /** Resolves when the engine has answered a trivial statement. */
  ping(): Promise<void>;
}

/** The engine's class of control statements (see `NativeClassification`). */
const controls = 3;

/** The threads of a question: half of the cores, so that a question never delays the processors for long. */
const QUESTION_THREADS = Math.ceil(availableParallelism() / 2);

/** Creates a runner. */
export function createStatementRunner(engine: Engine, limits: RunnerLimits): StatementRunner {
  const lanes = Object.fromEntries(
    Object.entries(laneSizes).map(([name, size]) => [name, createLane(name, size)]),
  ) as Readonly<Record<LaneName, Lane>>;

  async function run(request: StatementRequest, sql: string, signal: AbortSignal): Promise<Answer> {
    const { ofConnection, others } = splitSettings(request.settings);
    // The engine gives no query id to a connection. So a query that must be stopped is found by its comment.
    const comment = randomUUID();
    const settings = {
      ...ofConnection,
      ...(request.quotaKey === undefined ? {} : { max_threads: QUESTION_THREADS }),
      max_result_bytes: limits.maxResultBytes,
      ...(request.readOnly ? { readonly: 2 } : {}),
      ...(request.stopsWithClient ? { log_comment: comment } : {}),
    };
    const stop = (): void => void stopQuery(comment).catch(() => {});
    if (request.stopsWithClient) signal.addEventListener("abort", stop);
    try {
      return await engine.withConnection(settings, async (connection) => {
        await prepare(connection, request, others);
        const { statementCount, queryClass } = await connection.classify(sql);
        refuseSeveral(statementCount);
        if (queryClass === controls && namesLocalFile(sql)) {
          throw new AdapterError(497, "Not enough privileges: a statement must not name files of this machine");
        }
        refuseDeparted(signal);
        return await read(connection, request, sql);
      });
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Stops a running query. The query fails with 394. */
  async function stopQuery(comment: string): Promise<void> {
    const sql = `KILL QUERY WHERE Settings['log_comment'] = ${sqlString(comment)} ASYNC`;
    await engine.withConnection({}, (connection) => connection.query(sql, "Null"));
  }

  async function insert(request: StatementRequest, statement: Statement & { kind: "insert" }): Promise<Answer> {
    if (request.readOnly) throw new AdapterError(164, "Cannot insert in readonly mode: use POST");
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
    async run(request, statement, signal) {
      if (statement.kind === "insert") return await lanes.inserts.run(() => insert(request, statement), signal);
      const lane = request.quotaKey === undefined ? lanes.statements : lanes.questions;
      return await lane.run(() => run(request, statement.sql, signal), signal);
    },
    async ping() {
      await lanes.ping.run(() => engine.withConnection({}, (connection) => connection.query("SELECT 1", "Null")));
    },
  };
}

/** Applies settings, database and parameters in one script. A connection drops them when it is closed. */
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
  // A server keeps parameters apart from the statement, so its limit applies to the statement alone.
  if (text.length > longestScript) await connection.query(`SET max_query_size = ${4 * text.length}`, "Null");
  await connection.query(text, "Null");
}

/** Well below the engine's default limit of 256 KiB, in characters of up to four bytes. */
const longestScript = 60_000;

function checkedName(name: string, kind: string): string {
  if (!/^[A-Za-z0-9_]{1,128}$/.test(name))
    throw new AdapterError(115, `${JSON.stringify(name)} is not the name of a ${kind}`);
  return name;
}

function refuseSeveral(statementCount: number): void {
  if (statementCount > 1) throw new AdapterError(62, "Multi-statements are not allowed");
}

async function read(connection: EngineConnection, request: StatementRequest, sql: string): Promise<Answer> {
  const result = await connection.query(sql, request.defaultFormat);
  const format = formatClauseOf(sql) ?? request.defaultFormat;
  return {
    bytes: result.bytes,
    format,
    readRows: result.rowsRead,
    readBytes: result.bytesRead,
    writtenRows: 0,
    writtenBytes: 0,
    elapsedNanoseconds: Math.round(result.elapsed * 1e9),
  };
}
