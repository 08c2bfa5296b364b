import pino, { type Logger } from "pino";

/** A logger of JSON lines with ISO times, on standard error so that a command's own output stays clean. */
export function createLogger(level: string, fields: Readonly<Record<string, unknown>> = {}): Logger {
  const options = { level, base: fields, timestamp: pino.stdTimeFunctions.isoTime };
  return pino(options, pino.destination({ dest: 2, sync: true }));
}
