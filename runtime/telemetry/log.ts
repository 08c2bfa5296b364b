import pino, { type Logger } from "pino";
import { readable } from "../readable.ts";

/**
 * Creates a logger of JSON lines with ISO times. They go to standard error, so that a command's own output stays clean, or to another file
 * descriptor.
 */
export function createLogger(
  level: string,
  fields: Readonly<Record<string, unknown>> = {},
  fileDescriptor = 2,
): Logger {
  const options = {
    level,
    base: fields,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: serializeError },
  };
  const file = pino.destination({ dest: fileDescriptor, sync: true });
  // Names and pages are from strangers, and people read logs on terminals.
  return pino(options, { write: (line) => void file.write(readable(line)) });
}

/**
 * Returns an error in pino's form, with the message of its cause after its own; only once if both are equal. A DOMException has only its name,
 * message and stack: pino would add the 25 constants of its class.
 */
export function serializeError(error: Error): object {
  if (error instanceof DOMException) return { type: error.name, message: error.message, stack: error.stack };
  const written = pino.stdSerializers.err(error);
  const { cause } = error;
  return cause instanceof Error && cause.message === error.message ? { ...written, message: error.message } : written;
}
