import fc from "fast-check";
import { Kafka, logLevel } from "kafkajs";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, SAMPLES_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import { readFact } from "../../processors/ingest/facts.ts";
import { inventoryFact, namespaceFact, NOON, workloadFact } from "./facts.ts";
import { hostilePages } from "./hostile-pages.ts";
import { nonsense } from "./nonsense.ts";
import { pushedPage } from "./receiver-world.ts";
import { compressed, writeV1 } from "./remote-write.ts";

/** A part that runs until it is stopped. */
interface Running {
  stop(): Promise<void>;
}

/** A target that answers every scrape with another hostile page, or with 503 while it is not active. */
export interface HostileTarget extends Running {
  readonly url: string;
  setActive(active: boolean): void;
  /** The number of hostile pages that it has sent. */
  pages(): number;
}

/** Starts a target with hostile pages of about `bytes` bytes. */
export async function startHostileTarget(bytes: number): Promise<HostileTarget> {
  const bodies = hostilePages(bytes).flatMap(({ first, next }) => [first, ...(next === undefined ? [] : [next])]);
  const quiet = Buffer.from(
    'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-hostile",modelName="NVIDIA L4",Hostname="hostile"} 5\n',
  );
  let isActive = false;
  let pages = 0;
  const server = createServer((_, response) => {
    if (!isActive) return void response.end(quiet);
    response.end(bodies[pages % bodies.length]);
    pages += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`,
    setActive: (active) => void (isActive = active),
    pages: () => pages,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends messages that no processor can use, one after another, while it is active. */
export interface PoisonProducer extends Running {
  setActive(active: boolean): void;
  /** The number of messages that it has sent. */
  sent(): number;
}

const FACTS = {
  [WORKLOADS_TOPIC]: workloadFact({}),
  [INVENTORY_TOPIC]: inventoryFact({}),
  [CLUSTER_TOPIC]: namespaceFact({}),
};

/** Starts a producer of poison messages. Our decoders refuse each of them. */
export async function startPoisonProducer(broker: string, everyMillis: number): Promise<PoisonProducer> {
  const producer = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  let seed = 1;
  let sent = 0;

  function poisonFor(topic: string): Buffer {
    for (;;) {
      const fact = FACTS[topic as keyof typeof FACTS] as unknown;
      const bytes = fc.uint8Array({ maxLength: 2_000 }).map((some) => Buffer.from(some));
      const json = nonsense(fact ?? { scrapedAtMillis: NOON }).map((value) => Buffer.from(JSON.stringify(value) ?? ""));
      const [value] = fc.sample(fc.oneof(bytes, json), { seed: (seed += 1), numRuns: 1 });
      if (isRefused(topic, value!)) return value!;
    }
  }

  async function sendOne(): Promise<void> {
    const topic = [SAMPLES_TOPIC, ...Object.keys(FACTS)][sent % 4]!;
    await producer.send({ topic, messages: [{ key: `poison-${sent}`, value: poisonFor(topic) }] });
    sent += 1;
  }

  let isActive = false;
  const ending = new AbortController();
  const sending = (async () => {
    while (!ending.signal.aborted) {
      if (isActive) await sendOne();
      await pause(everyMillis, undefined, { signal: ending.signal }).catch(() => {});
    }
  })();

  return {
    setActive: (active) => void (isActive = active),
    sent: () => sent,
    async stop() {
      ending.abort();
      await sending;
      await producer.disconnect();
    },
  };
}

/** Holds connections to ports while it is active, and opens each again that a port ends. */
export interface HoldingClient extends Running {
  setActive(active: boolean): void;
  /** The number of connections that it has opened. */
  opened(): number;
}

/** Starts a client of another address of this machine that holds a number of connections to each port. */
export function startHoldingClient(ports: readonly number[], each: number): HoldingClient {
  const held = new Set<Socket>();
  let isActive = false;
  let opened = 0;

  function hold(port: number): void {
    if (!isActive) return;
    const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.3.1" });
    opened += 1;
    held.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      held.delete(socket);
      setTimeout(hold, 1_000, port).unref();
    });
    socket.resume().write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  }

  function setActive(active: boolean): void {
    isActive = active;
    if (active) for (const port of ports) for (let index = 0; index < each; index += 1) hold(port);
    else for (const socket of held) socket.destroy();
  }
  return {
    setActive,
    opened: () => opened,
    stop() {
      setActive(false);
      return Promise.resolve();
    },
  };
}

/** Sends requests of remote write while it is active, each with the samples of one GPU since the one before, 1 ms apart. */
export interface FloodingSender extends Running {
  setActive(active: boolean): void;
  /** The number of samples that a receiver has accepted requests of. */
  sent(): number;
}

/** The node of the samples of a {@link FloodingSender}. */
export const FLOODED = "flood";

/** Starts a sender to the address of a receiver. */
export function startFloodingSender(url: string, everyMillis: number): FloodingSender {
  const { labels } = pushedPage({ atMillis: 0, gpus: 1, instance: "10.0.0.66:9400", more: { node: FLOODED } })[0]!;
  const model = { ...labels, modelName: "NVIDIA L4" };
  let isActive = false;
  let sent = 0;
  const ending = new AbortController();
  const sending = (async () => {
    while (!ending.signal.aborted) {
      if (isActive) {
        const begun = Date.now() - everyMillis;
        const samples = Array.from({ length: everyMillis }, (_, at): [number, number] => [begun + at, at % 100]);
        const body = compressed(writeV1([{ labels: model, samples }]));
        const headers = { "content-encoding": "snappy", "content-type": "application/x-protobuf" };
        const answer = await fetch(url, { method: "POST", body: new Uint8Array(body), headers }).catch(() => undefined);
        if (answer?.ok === true) sent += everyMillis;
      }
      await pause(everyMillis, undefined, { signal: ending.signal }).catch(() => {});
    }
  })();
  return {
    setActive: (active) => void (isActive = active),
    sent: () => sent,
    async stop() {
      ending.abort();
      await sending;
    },
  };
}

function isRefused(topic: string, value: Buffer): boolean {
  if (topic === SAMPLES_TOPIC) return "invalid" in createScrapeDecoder().decode(value);
  return readFact({ topic, value, intact: true }).kind === "dead-letter";
}
