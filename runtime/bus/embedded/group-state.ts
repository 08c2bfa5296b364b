import type { TopicPartition } from "../bus.ts";
import { balance } from "./assignment.ts";

/** A member in the record of its group. */
export interface MemberRecord {
  readonly topics: readonly string[];
  /** The monotonic clock at its last heartbeat. */
  readonly aliveAtMillis: number;
}

/**
 * The state of a group, in one record that is changed only inside transactions.
 *
 * The target owner of a partition (`targets`) and its current owner (`holders`) are separate: a member takes a partition only when no
 * member holds it, and the previous holder releases it only after it has drained. So a partition never has two owners, and only partitions
 * that really move are stopped.
 */
export interface GroupState {
  readonly generation: number;
  readonly members: Readonly<Record<string, MemberRecord>>;
  readonly targets: Readonly<Record<string, string>>;
  readonly holders: Readonly<Record<string, string>>;
}

/** A group without members. */
export const EMPTY_GROUP: GroupState = { generation: 0, members: {}, targets: {}, holders: {} };

/** Returns a partition as a key of a group's tables. Topic names contain no slash, as in Kafka. */
export function partitionName({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}

/** Parses a {@link partitionName}. */
export function parsePartitionName(name: string): TopicPartition {
  const slash = name.lastIndexOf("/");
  return { topic: name.slice(0, slash), partition: Number(name.slice(slash + 1)) };
}

/** Returns the group with one more member, before a rebalance. */
export function withMember(state: GroupState, memberId: string, member: MemberRecord): GroupState {
  return { ...state, members: { ...state.members, [memberId]: member } };
}

/** Returns the group without a member and its held partitions, before a rebalance. */
export function withoutMember(state: GroupState, memberId: string): GroupState {
  const { [memberId]: _gone, ...members } = state.members;
  const holders = Object.fromEntries(Object.entries(state.holders).filter(([, holder]) => holder !== memberId));
  return { ...state, members, holders };
}

/**
 * Returns members without a heartbeat for longer than the session. A heartbeat with a clock ahead of ours is from before the machine's last
 * start, so that member is dead too.
 */
export function expiredMembers(state: GroupState, nowMillis: number, sessionTimeoutMillis: number): string[] {
  return Object.entries(state.members)
    .filter(([, { aliveAtMillis }]) => nowMillis - aliveAtMillis > sessionTimeoutMillis || aliveAtMillis > nowMillis)
    .map(([memberId]) => memberId);
}

/** Returns the next generation: the same members, with new targets. Holders stay until they release their partitions. */
export function rebalance(state: GroupState, partitionsOf: (topic: string) => number): GroupState {
  const subscribers = new Map<string, string[]>();
  for (const [memberId, member] of Object.entries(state.members)) {
    for (const topic of member.topics) {
      for (let partition = 0; partition < partitionsOf(topic); partition += 1) {
        const name = partitionName({ topic, partition });
        subscribers.set(name, [...(subscribers.get(name) ?? []), memberId]);
      }
    }
  }
  return { ...state, generation: state.generation + 1, targets: balance(subscribers, state.targets) };
}

/** Returns the partitions that the member should own and that no other member holds. */
export function takeable(state: GroupState, memberId: string): string[] {
  return Object.keys(state.targets).filter(
    (name) => state.targets[name] === memberId && (state.holders[name] ?? memberId) === memberId,
  );
}

/** Returns the partitions that the member holds and should release. */
export function surplus(state: GroupState, memberId: string): string[] {
  return Object.keys(state.holders).filter(
    (name) => state.holders[name] === memberId && state.targets[name] !== memberId,
  );
}

/** Returns the group after the member has taken partitions. Partitions that it may not take are left out. */
export function withHolder(state: GroupState, memberId: string, names: readonly string[]): GroupState {
  const allowed = new Set(takeable(state, memberId));
  const taken = names.filter((name) => allowed.has(name)).map((name) => [name, memberId] as const);
  return { ...state, holders: { ...state.holders, ...Object.fromEntries(taken) } };
}

/** Returns the group after the member has released partitions. */
export function withoutHolder(state: GroupState, memberId: string, names: readonly string[]): GroupState {
  const released = new Set(names);
  const holders = Object.entries(state.holders).filter(([name, holder]) => holder !== memberId || !released.has(name));
  return { ...state, holders: Object.fromEntries(holders) };
}
