/** The bodies of requests. The text of a statement is in memory; the rows of an insert go to a file as they arrive. */
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createInflate } from "node:zlib";

import { AdapterError } from "./adapter-error.ts";
import type { StatementRequest } from "./http-request.ts";
import { splitInsert } from "./insert-statement.ts";
import type { InsertStatement } from "./insert-statement.ts";

/** The limits of an uncompressed body. */
export interface BodyLimits {
  readonly maxStatementBytes: number;
  readonly maxInsertBytes: number;
}

/** The folder for the rows of an insert, with the limits. */
export interface BodyOptions extends BodyLimits {
  readonly folder: string;
}

/** A statement to run: a text, or an insert with its rows in a file, which the runner removes. */
export type Statement =
  | { readonly kind: "text"; readonly sql: string }
  | { readonly kind: "insert"; readonly insert: InsertStatement; readonly file: string; readonly bytes: number };

/** A server's `http_max_field_value_size`. A form that a server would refuse is refused here too. */
const maxFieldBytes = 131_072;

/** How many bytes of a body are inspected to detect an insert with rows. */
const headBytes = 64 * 1024;

/**
 * Reads a request's body. Returns the statement, and the request with the parameters in the body. Fails with 187 if the body is larger than
 * the limits, 243 if the disk is full, 36 for an invalid form, 48 for a form with files or rows, and 1000 for a field that is too long.
 */
export async function readBody(
  message: IncomingMessage,
  request: StatementRequest,
  options: BodyOptions,
): Promise<{ readonly request: StatementRequest; readonly statement: Statement }> {
  const { form } = request;
  if (form !== undefined) return await readForm(message, { ...request, form }, options);
  return { request, statement: await readStatement(message, request, options) };
}

async function readStatement(
  message: IncomingMessage,
  request: StatementRequest,
  options: BodyOptions,
): Promise<Statement> {
  const chunks = unpacked(message, request.bodyEncoding)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const fromUrl = splitInsert(request.urlQuery);
  if (fromUrl !== undefined) {
    const rest = Buffer.from(request.urlQuery.slice(fromUrl.dataStart), "utf8");
    return await toFile(fromUrl, rest, chunks, options);
  }

  const held: Buffer[] = request.urlQuery === "" ? [] : [Buffer.from(`${request.urlQuery}\n`, "utf8")];
  let heldBytes = held[0]?.length ?? 0;
  let looked = false;
  for (;;) {
    const chunk = await chunks.next();
    if (chunk.done !== true) {
      held.push(chunk.value);
      heldBytes += chunk.value.length;
    }
    if (!looked && (heldBytes >= headBytes || chunk.done === true)) {
      looked = true;
      const start = Buffer.concat(held);
      // In latin1 one byte is one character, so the start of the rows is also valid as a byte offset.
      const insert = splitInsert(start.subarray(0, headBytes).toString("latin1"));
      if (insert !== undefined) {
        const exact = splitInsert(start.subarray(0, insert.dataStart).toString("utf8")) ?? insert;
        return await toFile(exact, start.subarray(insert.dataStart), chunks, options);
      }
    }
    if (heldBytes > options.maxStatementBytes) {
      throw new AdapterError(187, `The statement is larger than ${options.maxStatementBytes} bytes`);
    }
    if (chunk.done === true) return { kind: "text", sql: Buffer.concat(held).toString("utf8").trim() };
  }
}

/** Reads a form with a statement and parameters. Clients send those that are too long for a URL in this way. */
async function readForm(
  message: IncomingMessage,
  request: StatementRequest & { readonly form: string },
  { maxStatementBytes }: BodyLimits,
): Promise<{ readonly request: StatementRequest; readonly statement: Statement }> {
  const held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of unpacked(message, request.bodyEncoding) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxStatementBytes) throw new AdapterError(187, `The form is larger than ${maxStatementBytes} bytes`);
    held.push(chunk);
  }
  const body = new Response(Buffer.concat(held), { headers: { "content-type": request.form } });
  const form = await body.formData().catch((error: unknown) => {
    throw new AdapterError(36, "The body is not a form", { cause: error });
  });
  const parameters = new Map(request.parameters);
  let sql = request.urlQuery;
  for (const [name, value] of form) {
    if (typeof value !== "string" || (name !== "query" && !name.startsWith("param_")))
      throw new AdapterError(
        48,
        `The embedded store accepts only a statement and its parameters in a form, not ${name}`,
      );
    if (Buffer.byteLength(value) > maxFieldBytes)
      throw new AdapterError(
        1000,
        `HTML Form Exception: Field value too long: ${name} is longer than ${maxFieldBytes} bytes`,
      );
    if (name === "query") sql += value;
    else parameters.set(name.slice("param_".length), value);
  }
  if (splitInsert(sql) !== undefined)
    throw new AdapterError(48, "The rows of an insert must be the body itself, not a form");
  return { request: { ...request, parameters }, statement: { kind: "text", sql: sql.trim() } };
}

function unpacked(message: IncomingMessage, encoding: StatementRequest["bodyEncoding"]): Readable {
  if (encoding === "identity") return message;
  const unpack = encoding === "gzip" ? createGunzip() : createInflate();
  // `pipe` does not forward errors: an aborted request must also end the decompression.
  message.once("error", (error) => unpack.destroy(error));
  message.once("aborted", () => unpack.destroy(new Error("The request was interrupted")));
  return message.pipe(unpack);
}

async function toFile(
  insert: InsertStatement,
  first: Buffer,
  rest: AsyncIterator<Buffer>,
  options: BodyOptions,
): Promise<Statement> {
  const { maxInsertBytes: maxBytes } = options;
  const file = join(options.folder, randomUUID());
  let bytes = 0;
  async function* bounded(): AsyncGenerator<Buffer, void, undefined> {
    for (let chunk: IteratorResult<Buffer> = { value: first }; chunk.done !== true; chunk = await rest.next()) {
      bytes += chunk.value.length;
      if (bytes > maxBytes) throw new AdapterError(187, `The rows are larger than ${maxBytes} bytes; insert in parts`);
      yield chunk.value;
    }
  }
  try {
    await pipeline(bounded, createWriteStream(file, { mode: 0o600, flags: "wx" }));
  } catch (error) {
    await removeQuietly(file);
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") {
      throw new AdapterError(243, "No space left on the device for the rows of an insert", { cause: error });
    }
    throw error;
  }
  return { kind: "insert", insert, file, bytes };
}

/** Removes a file. If it cannot be removed now, the next start removes it. */
export async function removeQuietly(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => undefined);
}
