import { logLevel } from "kafkajs";
import type { logCreator } from "kafkajs";
import type { Logger } from "pino";

/**
 * Sends kafkajs's log lines to ours, one level lower each: kafkajs calls every lost connection an error, while what
 * really fails reaches the caller as a rejection.
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
