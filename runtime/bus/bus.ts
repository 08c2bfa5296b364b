/**
 * The bus port: the operations of Kafka that collectors and processors need. The embedded log implements the same port. Both
 * implementations give the same guarantees, and one contract test checks them. A message that `send` has acknowledged is durable and keeps
 * its position in its partition. Equal keys share a partition. A group gets every message at least once, from the last committed position.
 */

/** A topic and its retention. The number of partitions never changes, because a key must not move while its history is compacted. */
export interface TopicDeclaration {
  readonly name: string;
  readonly partitions: number;
  readonly cleanup: "delete" | "compact";
  /** With `delete`: the retention of a message. With `compact`: the retention of a tombstone. */
  readonly retentionMillis: number;
  /** With `delete`: the most bytes that a partition keeps. If unset, only time limits it. */
  readonly retentionBytes?: number;
  /** With `compact`: no message younger than this is compacted. */
  readonly minCompactionLagMillis?: number;
}

/** The largest message (key, value and headers) that a bus accepts by default. A bus can be opened with another limit. */
export const MOST_MESSAGE_BYTES = 8 * 1024 ** 2;

/** A message to send. A `null` value is a tombstone. */
export interface OutgoingMessage {
  readonly key: string;
  readonly value: Uint8Array | null;
  /** The version of the value's schema. Consumers refuse versions that are newer than their own. */
  readonly schemaVersion: number;
  /** More headers, such as a W3C `traceparent`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A received message. `value` belongs to the receiver. */
export interface ReceivedMessage {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly value: Uint8Array | null;
  /** 0 if the sender wrote none. */
  readonly schemaVersion: number;
  /** True if the sender's checksum matches the value. `false` also if the sender wrote none. */
  readonly intact: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** When the broker received the message, milliseconds since the epoch. */
  readonly sentAtMillis: number;
}

/** Offsets `[from, to)` of one partition that a group never got, because retention had removed them. */
export interface OffsetJump {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/** One partition of one topic. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** The callbacks of a group member. The bus waits for each returned promise; this is the back-pressure. */
export interface GroupHandler {
  /**
   * Gets messages of one partition, in order. The next messages of this partition come after the promise resolves. If the promise rejects,
   * the bus logs the failure and delivers the same messages again after a pause.
   */
  onMessages(messages: readonly ReceivedMessage[]): Promise<void>;
  /** Gets the partitions that this member owns from now on. */
  onAssigned?(partitions: readonly TopicPartition[]): void;
  /**
   * Gets the partitions that this member is about to lose. Finish and commit their messages, then return. If the partitions are already
   * gone (this member was stalled for longer than its session), commits fail with `not-owner`.
   */
  onRevoked?(partitions: readonly TopicPartition[]): Promise<void>;
  /** Gets the offsets of messages that retention removed before this group read them. */
  onJump?(jump: OffsetJump): void;
}

/** A membership in a group. */
export interface GroupMember {
  /** Commits that everything before `offset` is done. Fails with `not-owner` if another member owns the partition. */
  commit(partition: TopicPartition, offset: number): Promise<void>;
  /** Stops the delivery of one partition until `resume`, or until the partition is revoked. */
  pause(partition: TopicPartition): void;
  resume(partition: TopicPartition): void;
  /** Returns the number of messages between the committed position and the end, for each partition that the member owns now. */
  lag(): Promise<readonly (TopicPartition & { readonly messages: number })[]>;
  /** Returns the group's generation that this member joined. It grows with every rebalance. */
  generation(): number;
  /** Revokes all partitions (calls `onRevoked`), leaves the group and resolves when the member has left. */
  close(): Promise<void>;
}

/** A reader of a whole topic, all partitions from the oldest message on, for one instance alone. */
export interface Follower {
  /** Resolves when every message that the topic held at the time of `follow` was delivered. */
  readonly caughtUp: Promise<void>;
  close(): Promise<void>;
}

/** The bus port. Every method fails with a {@link BusError}. */
export interface Bus {
  /**
   * Creates missing topics. Fails with `topic-mismatch` if a topic exists with other partitions or another cleanup. For a topic that
   * exists, the embedded log adopts the retention and the compaction lag. On Kafka they are left to the operator.
   */
  declare(topics: readonly TopicDeclaration[]): Promise<void>;
  /** Sends messages. Resolves when all of them are durable. Messages of one key keep the order of the calls. */
  send(topic: string, messages: readonly OutgoingMessage[]): Promise<void>;
  /** Joins a group that shares the topics' partitions. A new group starts at the oldest message. */
  consume(options: {
    readonly group: string;
    readonly topics: readonly string[];
    readonly handler: GroupHandler;
  }): Promise<GroupMember>;
  /** Reads a whole topic for this instance alone. Nothing is committed. */
  follow(topic: string, onMessages: (messages: readonly ReceivedMessage[]) => Promise<void>): Promise<Follower>;
  /**
   * Reads the messages in `[fromOffset, fromOffset + count)` again, for dead letters and explanations. Missing offsets (compacted, expired,
   * not yet assigned) are left out.
   */
  read(partition: TopicPartition, fromOffset: number, count: number): Promise<readonly ReceivedMessage[]>;
  /** Returns the oldest and the next offset of each partition. */
  watermarks(topic: string): Promise<readonly (TopicPartition & { readonly low: number; readonly high: number })[]>;
  /** Flushes, leaves all groups, and closes connections and files. */
  close(): Promise<void>;
}

/** The reason why a bus refused or failed. */
export type BusErrorCode =
  | "unavailable"
  | "topic-mismatch"
  | "unknown-topic"
  | "not-owner"
  | "too-large"
  | "disk-full"
  | "closed"
  | "denied";

/** Every failure of a bus: a code to branch on, whether a retry can help, and the cause. */
export class BusError extends Error {
  readonly code: BusErrorCode;
  readonly retriable: boolean;

  constructor(code: BusErrorCode, message: string, options: { retriable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "BusError";
    this.code = code;
    this.retriable = options.retriable;
  }
}
