import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config/schema.ts";
import type { Bus } from "./bus.ts";
import { systemClock } from "../clock.ts";
import { openEmbeddedBus } from "./embedded/embedded-bus.ts";

/** Rows wait seconds for their insert, so polling for messages more often would cost more than it gains. */
const POLL_MILLIS = 200;

/** Opens the configured bus. Fails with a `BusError` if its folder cannot be opened. */
export async function openBus({ bus, data }: Config, logger: Logger): Promise<Bus> {
  if (bus.kind === "embedded" || bus.kafka === undefined) {
    return openEmbeddedBus({ folder: join(data, "bus"), clock: systemClock, pollMillis: POLL_MILLIS, logger });
  }
  const { brokers, clientId, compression, replicationFactor, minInsyncReplicas, session, tls, sasl } = bus.kafka;
  const { createKafkaBus } = await import("./kafka/kafka-bus.ts");
  return createKafkaBus({
    brokers,
    clientId,
    compression,
    replicationFactor,
    minInsyncReplicas,
    sessionTimeoutMillis: session,
    logger,
    ...(sasl === undefined ? {} : { sasl }),
    ...(tls === undefined
      ? {}
      : {
          tls: {
            rejectUnauthorized: !tls.insecureSkipVerify,
            ...(tls.ca === undefined ? {} : { ca: tls.ca }),
            ...(tls.cert === undefined ? {} : { cert: tls.cert }),
            ...(tls.key === undefined ? {} : { key: tls.key }),
          },
        }),
  });
}
