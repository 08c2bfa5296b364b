import { randomUUID } from "node:crypto";
import { BusError } from "../bus.ts";
import type { TopicPartition } from "../bus.ts";
import type { Clock } from "../../clock.ts";
import {
  EMPTY_GROUP,
  expiredMembers,
  parsePartitionName,
  partitionName,
  rebalance,
  withHolder,
  withMember,
  withoutHolder,
  withoutMember,
} from "./group-state.ts";
import type { GroupState } from "./group-state.ts";
import type { Storage } from "./storage.ts";

/** One member's access to its group's record. Every method is one durable transaction. */
export interface Membership {
  readonly memberId: string;
  /** Returns the current group, without a transaction. */
  state(): GroupState;
  join(): Promise<void>;
  /** Records a heartbeat and removes members without one. Returns `false` if this member itself was removed. */
  heartbeat(): Promise<boolean>;
  /** Takes partitions that no member holds. Returns the taken ones, with the committed offset if there is one. */
  take(names: readonly string[]): Promise<readonly (TopicPartition & { readonly committed: number | undefined })[]>;
  release(names: readonly string[]): Promise<void>;
  /** Fails with `not-owner` if this member does not hold the partition. */
  commit(partition: TopicPartition, offset: number): Promise<void>;
  committed(partition: TopicPartition): number | undefined;
  leave(): Promise<void>;
}

/** Creates a membership that has not joined yet. Each has its own identity, so an earlier membership cannot commit. */
export function createMembership(
  storage: Storage,
  options: {
    readonly group: string;
    readonly topics: readonly string[];
    readonly sessionTimeoutMillis: number;
    readonly clock: Clock;
  },
): Membership {
  const { group, topics, clock } = options;
  const memberId = randomUUID();

  const load = () => storage.groups.get(group) ?? EMPTY_GROUP;
  const save = (state: GroupState) => void storage.groups.put(group, state);
  const partitionsOf = (topic: string) => storage.topics.get(topic)?.partitions ?? 0;
  const committed = ({ topic, partition }: TopicPartition) => storage.offsets.get([group, topic, String(partition)]);
  const alive = () => ({ topics, aliveAtMillis: clock.monotonicMillis() });

  function withoutExpired(state: GroupState): GroupState {
    const expired = expiredMembers(state, clock.monotonicMillis(), options.sessionTimeoutMillis);
    return expired.reduce(withoutMember, state);
  }

  return {
    memberId,
    state: () => storage.read(load),
    join: () =>
      storage.write(() => save(rebalance(withMember(withoutExpired(load()), memberId, alive()), partitionsOf))),
    heartbeat: () =>
      storage.write(() => {
        const state = load();
        if (state.members[memberId] === undefined) return false;
        const stamped = withMember(state, memberId, alive());
        const living = withoutExpired(stamped);
        save(living === stamped ? stamped : rebalance(living, partitionsOf));
        return true;
      }),
    take: (names) =>
      storage.write(() => {
        const state = withHolder(load(), memberId, names);
        save(state);
        return names
          .filter((name) => state.holders[name] === memberId)
          .map(parsePartitionName)
          .map((partition) => ({ ...partition, committed: committed(partition) }));
      }),
    release: (names) => storage.write(() => save(withoutHolder(load(), memberId, names))),
    commit: (partition, offset) =>
      storage.write(() => {
        const name = partitionName(partition);
        if (load().holders[name] !== memberId) {
          throw new BusError("not-owner", `This member of ${group} does not own ${name}.`, { retriable: false });
        }
        void storage.offsets.put([group, partition.topic, String(partition.partition)], offset);
      }),
    committed: (partition) => storage.read(() => committed(partition)),
    leave: () =>
      storage.write(() => {
        const state = load();
        if (state.members[memberId] !== undefined) save(rebalance(withoutMember(state, memberId), partitionsOf));
      }),
  };
}
