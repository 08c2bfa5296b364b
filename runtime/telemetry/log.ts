import pino, { type Logger } from "pino";

/**
 * A logger of JSON lines with ISO times: to standard error, so that a command's own output stays clean, or to another
 * file descriptor.
 */
export function createLogger(
  level: string,
  fields: Readonly<Record<string, unknown>> = {},
  fileDescriptor = 2,
): Logger {
  const options = { level, base: fields, timestamp: pino.stdTimeFunctions.isoTime };
  return pino(options, pino.destination({ dest: fileDescriptor, sync: true }));
}
