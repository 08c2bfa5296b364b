import kafkajs from "kafkajs";
import type { Broker, PartitionAssigner } from "kafkajs";
import { BusError } from "../bus.ts";
import type { TopicPartition } from "../bus.ts";

/** What the broker of a group answers to a join; kafkajs's own types leave it out. */
interface Coordinator extends Broker {
  joinGroup(request: JoinRequest): Promise<{ readonly generationId: number; readonly memberId: string }>;
  heartbeat(request: { groupId: string; memberId: string; groupGenerationId: number }): Promise<unknown>;
}

interface JoinRequest {
  readonly memberId: string;
}

interface Session {
  readonly coordinator: Coordinator;
  readonly memberId: string;
  readonly generation: number;
}

/** A member's standing in its group, generation by generation. */
export interface GroupSession {
  /** To be given to kafkajs's consumer; it shares partitions out by turns and lets this session see each join. */
  readonly assigner: PartitionAssigner;
  /** The generation of the last join; 0 before the first. */
  generation(): number;
  /** Keeps the membership alive while the consumer waits for `beforeJoin`. Never rejects. */
  heartbeat(): Promise<void>;
  /** Commits under this generation. Fails with `not-owner` where the group has gone on without this member. */
  commit(partition: TopicPartition, offset: number): Promise<void>;
}

/**
 * Lets a member drain before it joins again, and knows its generation.
 *
 * kafkajs 2.2.4 announces a rebalance by an event, does not wait for its listeners, and tells nobody the generation. But
 * it hands its cluster to a custom assigner (documented: https://kafka.js.org/docs/consuming#a-name-custom-partition-assigner-a-custom-partition-assigner),
 * and every join begins with `await cluster.findGroupCoordinator()` (consumer/consumerGroup.js), whose broker gets
 * `joinGroup`. Both are wrapped here, on this consumer's cluster alone: `beforeJoin` is awaited before each join, and
 * what the broker answers is kept. While it waits, the broker holds the rebalance open (up to the rebalance timeout)
 * and still takes commits and heartbeats of the old generation.
 *
 * kafkajs also forgets who it was when it restarts a consumer after an outage; the group would then wait for the former
 * self's session to expire (30 s by default). So the former identity is put into the join, for as long as the broker
 * knows it.
 */
export function createGroupSession(group: string, beforeJoin: () => Promise<void>): GroupSession {
  let session: Session | undefined;
  let formerId = "";

  function watched(coordinator: Coordinator): Coordinator {
    return new Proxy(coordinator, {
      get(target, property) {
        if (property === "joinGroup") {
          return async (request: JoinRequest) => {
            const memberId = request.memberId === "" ? formerId : request.memberId;
            try {
              const answer = await target.joinGroup({ ...request, memberId });
              session = { coordinator: target, memberId: answer.memberId, generation: answer.generationId };
              formerId = answer.memberId;
              return answer;
            } catch (error) {
              if ((error as { type?: string }).type === "UNKNOWN_MEMBER_ID") formerId = "";
              throw error;
            }
          };
        }
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === "function" ? (member.bind(target) as unknown) : member;
      },
    });
  }

  return {
    assigner(config) {
      const { cluster } = config;
      const find = cluster.findGroupCoordinator.bind(cluster);
      cluster.findGroupCoordinator = async (request) => {
        await beforeJoin();
        return watched((await find(request)) as Coordinator);
      };
      return kafkajs.PartitionAssigners.roundRobin(config);
    },
    generation: () => session?.generation ?? 0,
    async heartbeat() {
      if (session === undefined) return;
      const { coordinator, memberId, generation } = session;
      // While a group rebalances the answer is an error, and counts as a sign of life all the same.
      await coordinator.heartbeat({ groupId: group, memberId, groupGenerationId: generation }).catch(() => undefined);
    },
    async commit({ topic, partition }, offset) {
      if (session === undefined) {
        throw new BusError("not-owner", `This member has not joined ${group}.`, { retriable: false });
      }
      const { coordinator, memberId, generation } = session;
      await coordinator.offsetCommit({
        groupId: group,
        memberId,
        groupGenerationId: generation,
        topics: [{ topic, partitions: [{ partition, offset: String(offset) }] }],
      });
    },
  };
}
