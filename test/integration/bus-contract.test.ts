import { describe } from "vitest";
import { describeBus } from "../support/bus/contract.ts";
import { embeddedMake } from "../support/bus/embedded-make.ts";
import { kafkaMake } from "../support/bus/kafka-make.ts";
import { prepareKafka } from "../support/kafka-broker.ts";

describeBus("the embedded bus", () => Promise.resolve(embeddedMake()));

describe.skipIf(!(await prepareKafka()))("the bus on a real broker", () => {
  describeBus("the Kafka bus", kafkaMake);
});
