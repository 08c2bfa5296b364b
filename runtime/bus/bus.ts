/**
 * The bus port: what collectors and processors need of Kafka, and of the embedded log that stands in for it.
 *
 * Both makes give the same promises, and one contract test holds them to it: a message that `send` has acknowledged is
 * durable and keeps its place in its partition; equal keys share a partition; a group sees every message at least once,
 * from the last position that was committed.
 */

/** How a topic is kept. Partitions are fixed for ever: a key must not move while its history is compacted. */
export interface TopicDeclaration {
  readonly name: string;
  readonly partitions: number;
  readonly cleanup: "delete" | "compact";
  /** With `delete`: how long a message is kept. With `compact`: how long a tombstone is. */
  readonly retentionMillis: number;
  /** With `delete`: how many bytes a partition keeps at most; unset, time alone decides. */
  readonly retentionBytes?: number;
  /** With `compact`: no message younger than this is compacted away. */
  readonly minCompactionLagMillis?: number;
}

/** The largest message (key, value and headers) that a bus takes unless it was opened with another bound. */
export const MOST_MESSAGE_BYTES = 8 * 1024 ** 2;

/** A message on its way out. A `null` value is a tombstone. */
export interface OutgoingMessage {
  readonly key: string;
  readonly value: Uint8Array | null;
  /** The version of the value's schema; consumers refuse what is newer than they are. */
  readonly schemaVersion: number;
  /** Further headers, a W3C `traceparent` for one. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A message as it was received. `value` belongs to the receiver. */
export interface ReceivedMessage {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly value: Uint8Array | null;
  /** 0 where the sender wrote none. */
  readonly schemaVersion: number;
  /** Whether the checksum that the sender wrote fits the value; `false` also where it wrote none. */
  readonly intact: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** When the broker took it, milliseconds since the epoch. */
  readonly sentAtMillis: number;
}

/** Offsets that a group never saw because retention passed it: `[from, to)` of one partition. */
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

/** What a member of a group is told. The bus waits for each returned promise; that is the back-pressure. */
export interface GroupHandler {
  /**
   * Messages of one partition, in order. The next ones of this partition come after the promise resolves. Where it
   * rejects, the failure is logged and the same messages are handed over again after a pause.
   */
  onMessages(messages: readonly ReceivedMessage[]): Promise<void>;
  /** Partitions that this member owns from now on. */
  onAssigned?(partitions: readonly TopicPartition[]): void;
  /**
   * Partitions about to be taken away: finish and commit what is held of them, then return. Where they are gone already
   * (this member was stalled for longer than its session), commits fail with `not-owner`.
   */
  onRevoked?(partitions: readonly TopicPartition[]): Promise<void>;
  /** Messages that retention removed before this group read them. */
  onJump?(jump: OffsetJump): void;
}

/** A membership in a group. */
export interface GroupMember {
  /** Records that everything before `offset` is done. Fails with `not-owner` where the partition has moved on. */
  commit(partition: TopicPartition, offset: number): Promise<void>;
  /** Stops the delivery of one partition until `resume`, or until it is revoked. */
  pause(partition: TopicPartition): void;
  resume(partition: TopicPartition): void;
  /** Messages between the committed position and the end, for each partition owned now. */
  lag(): Promise<readonly (TopicPartition & { readonly messages: number })[]>;
  /** The group's generation as this member knows it; it grows with every rebalance. */
  generation(): number;
  /** Revokes everything (`onRevoked` is called), leaves the group and resolves when it has left. */
  close(): Promise<void>;
}

/** A reading of a whole topic, all partitions, from the oldest message on, by one instance for itself. */
export interface Follower {
  /** Resolves when everything that the topic held at the time of `follow` has been handed over. */
  readonly caughtUp: Promise<void>;
  close(): Promise<void>;
}

/** The port. Every method fails with a {@link BusError}. */
export interface Bus {
  /**
   * Creates what is missing; fails with `topic-mismatch` where a topic exists with other partitions or cleanup. Retention
   * and lag of a topic that exists are taken over by the embedded log, and left to the operator on Kafka.
   */
  declare(topics: readonly TopicDeclaration[]): Promise<void>;
  /** Resolves when all messages are durable. The order within a key is the order of the calls. */
  send(topic: string, messages: readonly OutgoingMessage[]): Promise<void>;
  /** Joins a group that shares the topic's partitions. A new group starts at the oldest message. */
  consume(options: {
    readonly group: string;
    readonly topics: readonly string[];
    readonly handler: GroupHandler;
  }): Promise<GroupMember>;
  /** Reads a whole topic for this instance alone; nothing is committed. */
  follow(topic: string, onMessages: (messages: readonly ReceivedMessage[]) => Promise<void>): Promise<Follower>;
  /**
   * Reads the messages in `[fromOffset, fromOffset + count)` again, for dead letters and explanations. Offsets that are
   * missing (compacted, expired, not yet given out) are left out.
   */
  read(partition: TopicPartition, fromOffset: number, count: number): Promise<readonly ReceivedMessage[]>;
  /** Oldest and next offset of each partition. */
  watermarks(topic: string): Promise<readonly (TopicPartition & { readonly low: number; readonly high: number })[]>;
  /** Flushes, leaves all groups and lets go of connections and files. */
  close(): Promise<void>;
}

/** Why a bus refused or failed. */
export type BusErrorCode =
  | "unavailable"
  | "topic-mismatch"
  | "unknown-topic"
  | "not-owner"
  | "too-large"
  | "disk-full"
  | "closed"
  | "denied";

/** Every failure of a bus: a code to branch on, whether trying again can help, and the cause. */
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
