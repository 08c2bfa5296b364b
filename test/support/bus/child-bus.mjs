// Opens the bus of a child process, from the built code.
import { pino } from "pino";
import { systemClock } from "../../../dist/runtime/clock.js";

const logger = pino({ level: "fatal" });

/**
 * @param {import("./make.ts").ChildBus} bus
 * @returns {Promise<import("../../../runtime/bus/bus.ts").Bus>}
 */
export async function openChildBus(bus) {
  if (bus.make === "embedded") {
    const { openEmbeddedBus } = await import("../../../dist/runtime/bus/embedded/embedded-bus.js");
    return openEmbeddedBus({ ...bus, sessionTimeoutMillis: 1500, clock: systemClock, logger });
  }
  const { createKafkaBus } = await import("../../../dist/runtime/bus/kafka/kafka-bus.js");
  return createKafkaBus({ ...bus, clientId: "child", sessionTimeoutMillis: 3000, logger });
}
