import kafkajs from "kafkajs";
import type { Kafka, Message, Producer, TopicMessages } from "kafkajs";
import { BusError } from "../bus.ts";
import type { OutgoingMessage } from "../bus.ts";
import { sealHeaders } from "../envelope.ts";
import { partitionOf } from "../partitioner.ts";
import { compressionType } from "./codecs.ts";
import { toBusError } from "./failures.ts";
import type { Compression } from "./options.ts";

const { KafkaJSNonRetriableError } = kafkajs;

/** The most bytes that a record takes in its batch in addition to key, value and headers. */
const RECORD_OVERHEAD_BYTES = 64;

/** The messages of one call, or a part of them that fits into a request. */
interface Parcel {
  readonly topic: string;
  readonly messages: readonly Message[];
  readonly bytes: number;
  resolve(): void;
  reject(error: BusError): void;
}

/** A sender that keeps the order of the calls. */
export interface Sender {
  send(topic: string, messages: readonly OutgoingMessage[]): Promise<void>;
  close(): Promise<void>;
}

/** The options of a sender. */
export interface SenderOptions {
  readonly kafka: Kafka;
  /** Fails with `unknown-topic` if the topic does not exist. */
  readonly checkTopic: (topic: string) => Promise<void>;
  readonly compression: Compression;
  readonly sendTimeoutMillis: number;
  readonly maxMessageBytes: number;
}

/**
 * Creates a sender with one request at a time, acks −1 and the idempotent producer. Each request has the messages that were sent since the
 * last one. So the order of the calls is the order in each partition, and many callers share a request.
 *
 * After a failed request the producer is discarded. The broker identifies a batch only by producer id and sequence, and kafkajs would give
 * the next batch the failed one's sequence: if the failed batch had arrived after all, the broker would treat the next one as a duplicate
 * and acknowledge it without storing it. The retries of the discarded producer are stopped through its partitioner, which kafkajs calls at
 * every attempt, so that no old message arrives after a newer one.
 */
export function createSender(options: SenderOptions): Sender {
  const { maxMessageBytes } = options;
  const requests = createRequests(options);
  let queue: Parcel[] = [];
  let draining: Promise<void> | undefined;
  let closed = false;

  /** Sends parts together, and in halves if the broker refuses a batch as too large for its topic. */
  async function requestFitting(parts: readonly TopicMessages[]): Promise<void> {
    try {
      await requests.send(parts);
    } catch (cause) {
      const error = toBusError(cause, "sending");
      const [part] = parts;
      if (error.code !== "too-large" || parts.length > 1 || part === undefined || part.messages.length < 2) throw error;
      const middle = part.messages.length >> 1;
      await requestFitting([{ topic: part.topic, messages: part.messages.slice(0, middle) }]);
      await requestFitting([{ topic: part.topic, messages: part.messages.slice(middle) }]);
    }
  }

  async function deliver(parcels: readonly Parcel[]): Promise<void> {
    try {
      await requestFitting(parcels.map(({ topic, messages }) => ({ topic, messages: [...messages] })));
      for (const parcel of parcels) parcel.resolve();
    } catch (cause) {
      const error = toBusError(cause, "sending");
      if (error.code === "too-large" && parcels.length > 1) {
        // The messages of one call must not make the others fail.
        for (const parcel of parcels) await deliver([parcel]);
      } else {
        for (const parcel of parcels) parcel.reject(error);
      }
    }
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      let bytes = 0;
      const fits = queue.findIndex((parcel, index) => (bytes += parcel.bytes) > maxMessageBytes && index > 0);
      const count = fits === -1 ? queue.length : fits;
      const parcels = queue.slice(0, count);
      queue = queue.slice(count);
      const known = await withKnownTopics(parcels);
      if (known.length > 0) await deliver(known);
    }
    draining = undefined;
  }

  /** Checked here and not in `send`, where it would let one call overtake another. */
  async function withKnownTopics(parcels: readonly Parcel[]): Promise<readonly Parcel[]> {
    const refusals = new Map<string, BusError>();
    for (const topic of new Set(parcels.map((parcel) => parcel.topic))) {
      await options.checkTopic(topic).catch((error: unknown) => refusals.set(topic, toBusError(error, "sending")));
    }
    for (const parcel of parcels) {
      const refusal = refusals.get(parcel.topic);
      if (refusal !== undefined) parcel.reject(refusal);
    }
    return parcels.filter((parcel) => !refusals.has(parcel.topic));
  }

  return {
    async send(topic, messages) {
      if (closed) throw new BusError("closed", "The bus is closed.", { retriable: false });
      const groups = pack(messages.map(toKafkaMessage), maxMessageBytes);
      const sent = groups.map(
        ({ messages: part, bytes }) =>
          new Promise<void>((resolve, reject) => queue.push({ topic, messages: part, bytes, resolve, reject })),
      );
      draining ??= drain();
      await Promise.all(sent);
    },
    async close() {
      closed = true;
      await draining;
      await requests.close();
    },
  };
}

/** The requests of a producer, one at a time. */
interface Requests {
  send(parts: readonly TopicMessages[]): Promise<void>;
  close(): Promise<void>;
}

function createRequests({ kafka, compression, sendTimeoutMillis }: SenderOptions): Requests {
  let current: { readonly producer: Producer; abandon(): void } | undefined;

  function newProducer() {
    let abandoned = false;
    const producer = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      retry: { retries: 5, initialRetryTime: 150, maxRetryTime: 2_000 },
      createPartitioner: () => (args) => {
        if (abandoned) throw new KafkaJSNonRetriableError("This send was abandoned.");
        return partitionOf(String(args.message.key), args.partitionMetadata.length);
      },
    });
    return { producer, abandon: () => void (abandoned = true) };
  }

  async function send(parts: readonly TopicMessages[]): Promise<void> {
    const byTopic = new Map<string, Message[]>();
    for (const { topic, messages } of parts) byTopic.set(topic, [...(byTopic.get(topic) ?? []), ...messages]);
    const topicMessages = [...byTopic].map(([topic, messages]) => ({ topic, messages }));
    const used = (current ??= newProducer());
    let sending: Promise<unknown> | undefined;
    let timer: NodeJS.Timeout | undefined;
    const expiry = new Promise<never>((_, reject) => {
      const message = `Kafka did not acknowledge within ${sendTimeoutMillis} ms.`;
      const expire = () => reject(new BusError("unavailable", message, { retriable: true }));
      timer = setTimeout(expire, sendTimeoutMillis);
    });
    try {
      await Promise.race([used.producer.connect(), expiry]);
      sending = used.producer.sendBatch({ topicMessages, acks: -1, compression: compressionType(compression) });
      await Promise.race([sending, expiry]);
    } catch (error) {
      current = undefined;
      used.abandon();
      await used.producer.disconnect().catch(() => undefined);
      if (sending === undefined) throw error;
      // Waits until none of its messages can arrive any more. The acknowledgement may have come just after the timeout.
      await sending.catch(() => Promise.reject(error));
    } finally {
      clearTimeout(timer);
    }
  }

  return { send, close: async () => current?.producer.disconnect() };
}

function toKafkaMessage(message: OutgoingMessage): Message {
  return {
    key: message.key,
    // kafkajs requires Buffers. This one shares the value's memory.
    value: message.value && Buffer.from(message.value.buffer, message.value.byteOffset, message.value.byteLength),
    headers: sealHeaders(message),
  };
}

/** Groups a call's messages into batches. Fails with `too-large` before anything is sent. */
function pack(messages: readonly Message[], maxBytes: number): { messages: Message[]; bytes: number }[] {
  const groups: { messages: Message[]; bytes: number }[] = [];
  for (const message of messages) {
    const bytes = recordBytes(message);
    if (bytes > maxBytes) {
      throw new BusError("too-large", `A message of ${bytes} bytes is over the limit of ${maxBytes}.`, {
        retriable: false,
      });
    }
    const group = groups.at(-1);
    if (group === undefined || group.bytes + bytes > maxBytes) groups.push({ messages: [message], bytes });
    else {
      group.messages.push(message);
      group.bytes += bytes;
    }
  }
  return groups;
}

function recordBytes({ key, value, headers }: Message): number {
  const headerBytes = Object.entries(headers ?? {}).reduce(
    (sum, [name, text]) => sum + name.length + String(text).length,
    0,
  );
  return Buffer.byteLength(key ?? "") + (value?.length ?? 0) + headerBytes + RECORD_OVERHEAD_BYTES;
}
