import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { RecordAudit } from "../access/audit.ts";
import { detailsOf } from "../server/asking.ts";

/** A file that is sent while it is made. */
export interface SentFile {
  readonly name: string;
  readonly type: string;
  /** The question, for the audit trail. */
  readonly subject: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Returns the number of rows. It is correct when all bytes have been read. */
  readonly rows: () => number;
}

/**
 * Sends a file as a download. The audit trail has the export when it begins, and again when it ends, with the rows and bytes that were made
 * and whether the file is complete. Fails with a `StoreError` if the beginning cannot be recorded.
 */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, type, subject, bytes, rows }: SentFile,
  { record, logger }: { readonly record: RecordAudit; readonly logger: Logger },
): Promise<FastifyReply> {
  const who = request.viewer.name;
  const details = { ...detailsOf(request), file: name };
  await record({ who, what: "export begun", subject, details });
  async function* sent(): AsyncGenerator<Uint8Array> {
    let size = 0;
    let isComplete = false;
    try {
      for await (const part of bytes) {
        size += part.length;
        yield part;
      }
      isComplete = true;
    } finally {
      const made = { ...details, bytes: size, isComplete, ...(isComplete ? { rows: rows() } : {}) };
      await record({ who, what: "export", subject, details: made }).catch((error: unknown) =>
        logger.warn({ err: error, who, ...made }, "the end of an export was not recorded in the audit trail"),
      );
    }
  }
  return reply.type(type).header("content-disposition", `attachment; filename="${name}"`).send(Readable.from(sent()));
}
