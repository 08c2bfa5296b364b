import { logLevel } from "kafkajs";
import type { logCreator } from "kafkajs";
import type { Logger } from "pino";

/**
 * Forwards kafkajs's log lines to our logger, one level lower each: kafkajs logs every lost connection as an error, while real failures
 * reach the caller as rejections.
 */
export function kafkaLogCreator(logger: Logger): logCreator {
  return () =>
    ({ level, namespace, log: { message, timestamp: _timestamp, logger: _name, ...fields } }) => {
      const details = { namespace, ...fields };
      if (level === logLevel.ERROR) logger.warn(details, message);
      else if (level === logLevel.WARN) logger.info(details, message);
      else logger.debug(details, message);
    };
}
