import kafkajs from "kafkajs";
import type { Broker, PartitionAssigner } from "kafkajs";
import { BusError } from "../bus.ts";
import type { TopicPartition } from "../bus.ts";

/** The group coordinator's response to a join, which kafkajs's own types omit. */
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

/** The state of a member in its group, for each generation. */
export interface GroupSession {
  /** The assigner for kafkajs's consumer. It assigns partitions round-robin and passes each join to this session. */
  readonly assigner: PartitionAssigner;
  /** Returns the generation of the last join; 0 before the first. */
  generation(): number;
  /** Keeps the membership alive while the consumer waits for `beforeJoin`. Never rejects. */
  heartbeat(): Promise<void>;
  /** Commits under this generation. Fails with `not-owner` if the group has continued without this member. */
  commit(partition: TopicPartition, offset: number): Promise<void>;
}

/**
 * Creates a session that lets a member drain before it joins again, and that records its generation.
 *
 * kafkajs 2.2.4 announces a rebalance by an event, does not wait for its listeners, and does not expose the generation. But it passes its
 * cluster to a custom assigner (documented:
 * https://kafka.js.org/docs/consuming#a-name-custom-partition-assigner-a-custom-partition-assigner), and every join begins with `await
 * cluster.findGroupCoordinator()` (consumer/consumerGroup.js), whose broker gets `joinGroup`. Both are wrapped here, only on this
 * consumer's cluster: `beforeJoin` is awaited before each join, and the broker's response is recorded. During the wait, the broker keeps
 * the rebalance open (up to the rebalance timeout) and still accepts commits and heartbeats of the old generation.
 *
 * kafkajs also drops its member id when it restarts a consumer after an outage. The group would then wait for the session of the previous
 * id to expire (30 s by default). So the previous id is put into the join, as long as the broker still has it.
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
      // While a group rebalances, the response is an error, but it still counts as a heartbeat.
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
