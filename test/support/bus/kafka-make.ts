import { randomUUID } from "node:crypto";
import kafkajs from "kafkajs";
import { pino } from "pino";
import { createKafkaBus } from "../../../runtime/bus/kafka/kafka-bus.ts";
import { startKafkaBroker } from "../kafka-broker.ts";
import type { BusMake } from "./make.ts";

/** Kafka, with a real broker of its own. */
export async function kafkaMake(): Promise<BusMake> {
  const broker = await startKafkaBroker();
  const brokers = [broker.address];
  const client = new kafkajs.Kafka({ brokers, clientId: "outside", logLevel: kafkajs.logLevel.NOTHING });

  return {
    childBus: { make: "kafka", brokers },
    open() {
      const bus = createKafkaBus({
        brokers,
        clientId: `test-${randomUUID()}`,
        sessionTimeoutMillis: 3_000,
        maxMessageBytes: 1_000_000,
        logger: pino({ level: process.env["KAFKA_LOG"] ?? "silent" }),
      });
      return Promise.resolve(bus);
    },
    async removeBefore(topic, partition, offset) {
      const admin = client.admin();
      await admin.connect();
      // Makes the admin client load the topic's metadata. `deleteTopicRecords` fails without it.
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] });
      await admin.disconnect();
    },
    async putBroken(topic, key) {
      const producer = client.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
      await producer.connect();
      const headers = { schema: "1", crc32: "00000000" };
      await producer.send({ topic, messages: [{ key, value: "broken", partition: 0, headers }] });
      await producer.disconnect();
    },
    stop: () => broker.dispose(),
  };
}
