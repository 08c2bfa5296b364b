import { setTimeout as sleep } from "node:timers/promises";
import kafkajs from "kafkajs";
import type { Admin, IResourceConfigEntry, ITopicConfig } from "kafkajs";
import { createBackOff } from "../../back-off.ts";
import { BusError } from "../bus.ts";
import type { TopicDeclaration, TopicPartition } from "../bus.ts";
import { isStaleMetadata, translating } from "./failures.ts";

const { ConfigResourceTypes } = kafkajs;

/** How long an operation is repeated that fails because of stale metadata. */
const STALE_FOR_MILLIS = 10_000;
const STALE_PAUSES = { firstMillis: 100, longestMillis: 1_000 };

/** Settings of new topics in addition to their declaration. */
export interface TopicDefaults {
  readonly replicationFactor: number | undefined;
  readonly minInsyncReplicas: number | undefined;
  readonly maxMessageBytes: number;
}

/** The bounds of a partition: the oldest offset and the next one. */
export type Watermarks = TopicPartition & { readonly low: number; readonly high: number };

/** The cluster operations on topics that the bus needs. */
export interface TopicAdmin {
  /** Creates missing topics and checks the others. It changes no existing topic, because an operator may have set it up. */
  declare(topics: readonly TopicDeclaration[]): Promise<void>;
  /** Fails with `unknown-topic`. A topic that was found once is not checked again. */
  checkKnown(topics: readonly string[]): Promise<void>;
  watermarks(topic: string): Promise<readonly Watermarks[]>;
  /** Returns a group's committed offsets of one topic, by partition; only existing ones. */
  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>>;
  /** Deletes a group without members; does nothing if that fails. */
  forgetGroup(group: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates the admin client of the bus. It connects at the first use, and again after a failure. An operation that fails because of stale
 * metadata is repeated for 10 s with a new client: kafkajs's admin client keeps its metadata for five minutes.
 */
export function createTopicAdmin(newAdmin: () => Admin, defaults: TopicDefaults): TopicAdmin {
  const known = new Set<string>();
  const connection = createAdminConnection(newAdmin);
  const asking = <Result>(doing: string, question: (admin: Admin) => Promise<Result>) =>
    translating(doing, () => connection.ask(question));

  async function checkKnown(topics: readonly string[]): Promise<void> {
    if (topics.every((topic) => known.has(topic))) return;
    for (const name of await asking("listing topics", (admin) => admin.listTopics())) known.add(name);
    const unknown = topics.find((topic) => !known.has(topic));
    if (unknown === undefined) return;
    throw new BusError("unknown-topic", `There is no topic ${unknown}, or this user has no permission for it.`, {
      retriable: false,
    });
  }

  return {
    declare: (topics) =>
      asking("declaring topics", async (admin) => {
        const existing = new Set(await admin.listTopics());
        const missing = topics.filter(({ name }) => !existing.has(name));
        await checkExisting(
          admin,
          topics.filter(({ name }) => existing.has(name)),
        );
        if (missing.length === 0) return;
        const created = await admin.createTopics({
          waitForLeaders: true,
          topics: missing.map((topic) => toKafkaTopic(topic, defaults)),
        });
        // Another client created one of them at the same time.
        if (!created) await checkExisting(admin, missing);
      }),
    checkKnown,
    async watermarks(topic) {
      await checkKnown([topic]);
      const offsets = await asking("reading watermarks", (admin) => admin.fetchTopicOffsets(topic));
      return offsets
        .map(({ partition, low, high }) => ({ topic, partition, low: Number(low), high: Number(high) }))
        .toSorted((a, b) => a.partition - b.partition);
    },
    committed: (group, topic) =>
      asking("reading committed offsets", async (admin) => {
        const [found] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
        const offsets = (found?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)] as const);
        return new Map(offsets.filter(([, offset]) => offset >= 0));
      }),
    async forgetGroup(group) {
      await asking("deleting a group", (admin) => admin.deleteGroups([group])).catch(() => undefined);
    },
    close: () => connection.close(),
  };
}

/** An admin client that connects at its first use. */
interface AdminConnection {
  /** Asks the client. A failure because of stale metadata is repeated with a new client. */
  ask<Result>(question: (admin: Admin) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

function createAdminConnection(newAdmin: () => Admin): AdminConnection {
  const running = new Set<Promise<unknown>>();
  let connected: Promise<Admin> | undefined;

  function connect(): Promise<Admin> {
    connected ??= (async () => {
      const admin = newAdmin();
      try {
        await admin.connect();
        return admin;
      } catch (error) {
        connected = undefined;
        throw error;
      }
    })();
    return connected;
  }

  /** Disconnects a client when its operations have ended. The next operation connects a new one. */
  async function retire(client: Promise<Admin>): Promise<void> {
    if (connected === client) connected = undefined;
    await Promise.allSettled(running);
    await (await client).disconnect();
  }

  async function ask<Result>(question: (admin: Admin) => Promise<Result>): Promise<Result> {
    const backOff = createBackOff(STALE_PAUSES);
    for (const deadline = performance.now() + STALE_FOR_MILLIS; ;) {
      const client = connect();
      const answer = client.then(question);
      running.add(answer);
      try {
        return await answer;
      } catch (error) {
        if (!isStaleMetadata(error) || performance.now() > deadline) throw error;
        void retire(client).catch(() => undefined);
      } finally {
        running.delete(answer);
      }
      await sleep(backOff.next());
    }
  }

  return {
    ask,
    async close() {
      const admin = await connected?.catch(() => undefined);
      await admin?.disconnect();
    },
  };
}

async function checkExisting(admin: Admin, topics: readonly TopicDeclaration[]): Promise<void> {
  if (topics.length === 0) return;
  const metadata = await admin.fetchTopicMetadata({ topics: topics.map(({ name }) => name) });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map(({ name }) => ({
      type: ConfigResourceTypes.TOPIC,
      name,
      configNames: ["cleanup.policy"],
    })),
  });
  for (const topic of topics) {
    const partitions = metadata.topics.find(({ name }) => name === topic.name)?.partitions.length ?? 0;
    const cleanup = resources.find(({ resourceName }) => resourceName === topic.name)?.configEntries[0]?.configValue;
    if (partitions !== topic.partitions) throw mismatch(topic, "partitions", partitions);
    if (cleanup !== topic.cleanup) throw mismatch(topic, "cleanup", cleanup ?? "unknown");
  }
}

/**
 * Returns the configuration of a topic. `LogAppendTime`, because a message's time is when the broker received it; the time of a fact is in
 * its value. The limit on a batch leaves room for what Kafka adds to one message of the largest size.
 */
function toKafkaTopic(topic: TopicDeclaration, defaults: TopicDefaults): ITopicConfig {
  const settings: Record<string, number | string | undefined> = {
    "cleanup.policy": topic.cleanup,
    "message.timestamp.type": "LogAppendTime",
    "max.message.bytes": defaults.maxMessageBytes + 4_096,
    "min.insync.replicas": defaults.minInsyncReplicas,
    ...(topic.cleanup === "delete"
      ? { "retention.ms": topic.retentionMillis, "retention.bytes": topic.retentionBytes }
      : { "delete.retention.ms": topic.retentionMillis, "min.compaction.lag.ms": topic.minCompactionLagMillis }),
  };
  const configEntries: IResourceConfigEntry[] = [];
  for (const [name, value] of Object.entries(settings)) {
    if (value !== undefined) configEntries.push({ name, value: String(value) });
  }
  return {
    topic: topic.name,
    numPartitions: topic.partitions,
    replicationFactor: defaults.replicationFactor ?? -1,
    configEntries,
  };
}

function mismatch(topic: TopicDeclaration, trait: "partitions" | "cleanup", found: number | string): BusError {
  return new BusError(
    "topic-mismatch",
    `Topic ${topic.name} has ${trait} ${found}, not ${topic[trait]}, and cannot be changed.`,
    { retriable: false },
  );
}
