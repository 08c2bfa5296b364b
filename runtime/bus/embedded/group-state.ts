import type { TopicPartition } from "../bus.ts";
import { balance } from "./assignment.ts";

/** A member as its group knows it. */
export interface MemberRecord {
  readonly topics: readonly string[];
  /** The monotonic clock at its last sign of life. */
  readonly aliveAtMillis: number;
}

/**
 * All of a group, in one record, changed only inside transactions.
 *
 * Who should own a partition (`targets`) and who does (`holders`) are kept apart: a member takes a partition only when
 * nobody holds it, and the former holder lets go only after it has drained. So a partition never has two owners, and
 * only partitions that really move are stopped.
 */
export interface GroupState {
  readonly generation: number;
  readonly members: Readonly<Record<string, MemberRecord>>;
  readonly targets: Readonly<Record<string, string>>;
  readonly holders: Readonly<Record<string, string>>;
}

/** A group that nobody has joined. */
export const EMPTY_GROUP: GroupState = { generation: 0, members: {}, targets: {}, holders: {} };

/** A partition as a key of a group's tables. Topic names hold no slash (they are Kafka's). */
export function partitionName({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}

/** Reads {@link partitionName} back. */
export function parsePartitionName(name: string): TopicPartition {
  const slash = name.lastIndexOf("/");
  return { topic: name.slice(0, slash), partition: Number(name.slice(slash + 1)) };
}

/** The group with one more member, before a rebalance. */
export function withMember(state: GroupState, memberId: string, member: MemberRecord): GroupState {
  return { ...state, members: { ...state.members, [memberId]: member } };
}

/** The group without a member and without what it held, before a rebalance. */
export function withoutMember(state: GroupState, memberId: string): GroupState {
  const { [memberId]: _gone, ...members } = state.members;
  const holders = Object.fromEntries(Object.entries(state.holders).filter(([, holder]) => holder !== memberId));
  return { ...state, members, holders };
}

/**
 * Members that gave no sign of life for longer than the session. One whose clock is ahead of ours is from before the
 * machine's last start, so it is dead too.
 */
export function expiredMembers(state: GroupState, nowMillis: number, sessionTimeoutMillis: number): string[] {
  return Object.entries(state.members)
    .filter(([, { aliveAtMillis }]) => nowMillis - aliveAtMillis > sessionTimeoutMillis || aliveAtMillis > nowMillis)
    .map(([memberId]) => memberId);
}

/** The next generation: the same members, the partitions shared out anew. Holders stay until they let go. */
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

/** Partitions that the member should own and that nobody else holds any more. */
export function takeable(state: GroupState, memberId: string): string[] {
  return Object.keys(state.targets).filter(
    (name) => state.targets[name] === memberId && (state.holders[name] ?? memberId) === memberId,
  );
}

/** Partitions that the member holds and should let go. */
export function surplus(state: GroupState, memberId: string): string[] {
  return Object.keys(state.holders).filter(
    (name) => state.holders[name] === memberId && state.targets[name] !== memberId,
  );
}

/** The group after the member has taken partitions; those that it may not take are left out. */
export function withHolder(state: GroupState, memberId: string, names: readonly string[]): GroupState {
  const allowed = new Set(takeable(state, memberId));
  const taken = names.filter((name) => allowed.has(name)).map((name) => [name, memberId] as const);
  return { ...state, holders: { ...state.holders, ...Object.fromEntries(taken) } };
}

/** The group after the member has let partitions go. */
export function withoutHolder(state: GroupState, memberId: string, names: readonly string[]): GroupState {
  const released = new Set(names);
  const holders = Object.entries(state.holders).filter(([name, holder]) => holder !== memberId || !released.has(name));
  return { ...state, holders: Object.fromEntries(holders) };
}
