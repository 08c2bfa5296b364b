import kafkajs from "kafkajs";
import type { Admin } from "kafkajs";
import { expect, it } from "vitest";
import { createTopicAdmin } from "../../../../runtime/bus/kafka/topic-admin.ts";

const TOPIC = "samples";
const OFFSETS = [{ partition: 0, offset: "7", high: "7", low: "3" }];

/** An error of a broker, as kafkajs has it: alone, or as the cause of the error after its last retry. */
function brokerError(type: string, isRetried: boolean): Error {
  const error = Object.assign(new kafkajs.KafkaJSProtocolError(type), { type });
  return isRetried ? new Error("retried 5 times", { cause: error }) : error;
}

/** Clients of which each has the metadata of the time of its first connection. A real broker moves no leader on request. */
function clientsOf(...failures: readonly (Error | undefined)[]) {
  const events: string[] = [];
  let count = 0;
  const newAdmin = (): Admin => {
    const name = `client ${(count += 1)}`;
    const failure = failures[count - 1];
    return {
      connect: () => Promise.resolve(),
      listTopics: () => Promise.resolve([TOPIC]),
      fetchTopicOffsets: () => (failure === undefined ? Promise.resolve(OFFSETS) : Promise.reject(failure)),
      disconnect: () => Promise.resolve(void events.push(`${name} disconnects`)),
    } as unknown as Admin;
  };
  const settings = { replicationFactor: undefined, minInsyncReplicas: undefined, maxMessageBytes: 1_000 };
  return { admin: createTopicAdmin(newAdmin, settings), events };
}

it.each([
  ["NOT_LEADER_FOR_PARTITION", false],
  ["LEADER_NOT_AVAILABLE", false],
  ["UNKNOWN_TOPIC_OR_PARTITION", true],
])("an operation that fails with %s is repeated with a new client", async (type, isRetried) => {
  const stale = brokerError(type, isRetried);
  const { admin, events } = clientsOf(stale, stale, undefined);
  const watermarks = await Promise.all([admin.watermarks(TOPIC), admin.watermarks(TOPIC)]);
  expect(watermarks).toEqual([[{ topic: TOPIC, partition: 0, low: 3, high: 7 }], watermarks[0]]);
  expect(new Set(events)).toEqual(new Set(["client 1 disconnects", "client 2 disconnects"]));
});

it("an operation that fails for another reason is not repeated", async () => {
  const { admin, events } = clientsOf(brokerError("TOPIC_AUTHORIZATION_FAILED", false), undefined);
  await expect(admin.watermarks(TOPIC)).rejects.toMatchObject({ code: "denied", retriable: false });
  expect(events).toEqual([]);
});
