import { describe, expect, it, vi } from "vitest";
import type { Bus, GroupMember, OffsetJump, ReceivedMessage, TopicPartition } from "../../../runtime/bus/bus.ts";
import { spawnMember } from "./child-member.ts";
import type { BusMake } from "./make.ts";
import { collector, newTopic, numbered, textMessage, textOf } from "./messages.ts";

const LONG = { timeout: 90_000, interval: 50 };

/** The contract for groups and followers of a bus. */
export function describeSharing(make: () => BusMake, bus: () => Bus): void {
  describe("groups", () => {
    it("members of a group share a topic's partitions, and each message goes to one of them", async () => {
      const topic = newTopic({ partitions: 6 });
      await bus().declare([topic]);
      const owned: TopicPartition[][] = [[], []];
      const seen = [0, 1].map((index) =>
        collector({
          onAssigned: (partitions) => void owned[index]?.push(...partitions),
          onRevoked: async (partitions) => {
            const gone = new Set(partitions.map((p) => p.partition));
            owned[index] = (owned[index] ?? []).filter((p) => !gone.has(p.partition));
            await Promise.resolve();
          },
        }),
      );
      const members: GroupMember[] = [];
      for (const { handler } of seen)
        members.push(await bus().consume({ group: topic.name, topics: [topic.name], handler }));
      await vi.waitFor(() => expect(owned.map((list) => list.length)).toEqual([3, 3]), LONG);
      expect(new Set(owned.flat().map((p) => p.partition)).size).toBe(6);

      await bus().send(topic.name, numbered(600, 60));
      await vi.waitFor(() => expect(seen.flatMap((s) => s.texts())).toHaveLength(600), LONG);
      expect(new Set(seen.flatMap((s) => s.texts())).size).toBe(600);
      for (const { messages } of seen) expect(messages.length).toBeGreaterThan(0);
      await Promise.all(members.map((member) => member.close()));
    });

    it("a group continues at its committed position and gets all later messages again", async () => {
      const topic = newTopic({ partitions: 1 });
      const partition = { topic: topic.name, partition: 0 };
      await bus().declare([topic]);
      await bus().send(topic.name, numbered(50, 1));
      const first = collector();
      const member = await bus().consume({ group: topic.name, topics: [topic.name], handler: first.handler });
      await vi.waitFor(() => expect(first.messages).toHaveLength(50), LONG);
      await member.commit(partition, 30);
      expect(await member.lag()).toEqual([{ ...partition, messages: 20 }]);
      await member.close();

      const second = collector();
      const next = await bus().consume({ group: topic.name, topics: [topic.name], handler: second.handler });
      await vi.waitFor(() => expect(second.messages).toHaveLength(20), LONG);
      expect(second.messages.map((m) => m.offset)).toEqual(Array.from({ length: 20 }, (_, n) => 30 + n));
      expect(next.generation()).toBeGreaterThan(member.generation());
      await next.close();
    });

    it("messages are handed over again when their handler fails", async () => {
      const topic = newTopic({ partitions: 1 });
      await bus().declare([topic]);
      await bus().send(topic.name, numbered(5, 1));
      const calls: string[][] = [];
      const member = await bus().consume({
        group: topic.name,
        topics: [topic.name],
        handler: {
          onMessages(messages) {
            calls.push(messages.map(textOf));
            return calls.length === 1 ? Promise.reject(new Error("not now")) : Promise.resolve();
          },
        },
      });
      await vi.waitFor(() => expect(calls.length).toBeGreaterThan(1), LONG);
      expect(calls[1]?.[0]).toBe("key-0#0");
      await member.close();
    });

    it("members that come and go lose no message: they drain before they let go, and a former owner's commit is refused", async () => {
      const topic = newTopic({ partitions: 6 });
      await bus().declare([topic]);
      const processed: ReceivedMessage[] = [];
      const refused: unknown[] = [];
      let drained = 0;

      async function join(): Promise<GroupMember> {
        let own: GroupMember | undefined;
        const positions = new Map<number, number>();
        const commitAll = async (partitions: readonly TopicPartition[]) => {
          for (const partition of partitions) {
            const position = positions.get(partition.partition);
            if (position !== undefined) await own?.commit(partition, position);
            positions.delete(partition.partition);
          }
        };
        own = await bus().consume({
          group: topic.name,
          topics: [topic.name],
          handler: {
            async onMessages(messages) {
              await new Promise((resolve) => setTimeout(resolve, 5));
              processed.push(...messages);
              const last = messages.at(-1);
              if (last !== undefined) positions.set(last.partition, last.offset + 1);
            },
            async onRevoked(partitions) {
              drained += partitions.length;
              await commitAll(partitions);
              setTimeout(() => {
                const partition = partitions[0];
                if (partition !== undefined) own?.commit(partition, 0).catch((error: unknown) => refused.push(error));
              }, 3_000);
            },
          },
        });
        return own;
      }

      const sent = numbered(900, 30);
      const sending = (async () => {
        for (let at = 0; at < sent.length; at += 10) {
          await bus().send(topic.name, sent.slice(at, at + 10));
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })();
      const members = [await join(), await join()];
      await new Promise((resolve) => setTimeout(resolve, 600));
      members.push(await join());
      await sending;
      await vi.waitFor(() => expect(new Set(processed.map(textOf)).size).toBe(900), LONG);
      expect(drained).toBeGreaterThan(0);
      await vi.waitFor(() => expect(refused).toContainEqual(expect.objectContaining({ code: "not-owner" })), LONG);
      // Each member committed its processed messages before it let go, so no message was handed over twice.
      expect(processed).toHaveLength(900);
      await Promise.all(members.map((member) => member.close()));
    });

    it("a killed member's partitions go to the others, which continue at its last commit", async () => {
      const topic = newTopic({ partitions: 4 });
      await bus().declare([topic]);
      const child = await spawnMember({ bus: make().childBus, group: topic.name, topic: topic.name, commitEvery: 5 });
      await bus().send(topic.name, numbered(200, 20));
      await vi.waitFor(() => expect(child.received().length).toBe(200), LONG);
      await child.kill();

      await bus().send(topic.name, numbered(220, 20).slice(200));
      const seen = collector();
      const member = await bus().consume({ group: topic.name, topics: [topic.name], handler: seen.handler });
      await vi.waitFor(() => expect(seen.texts()).toEqual(expect.arrayContaining(["key-0#10", "key-19#10"])), LONG);
      const all = new Set([...child.received(), ...seen.texts()]);
      expect(all.size).toBe(220);
      expect(seen.messages.length).toBeLessThan(220);
      await member.close();
    });

    it("the bus reports the messages that retention removed while the group was away", async () => {
      const topic = newTopic({ partitions: 1 });
      const partition = { topic: topic.name, partition: 0 };
      await bus().declare([topic]);
      await bus().send(topic.name, numbered(30, 1));
      const first = collector();
      const member = await bus().consume({ group: topic.name, topics: [topic.name], handler: first.handler });
      await vi.waitFor(() => expect(first.messages).toHaveLength(30), LONG);
      await member.commit(partition, 10);
      await member.close();
      await make().removeBefore(topic.name, 0, 30);
      await bus().send(topic.name, [textMessage("key-0", "after")]);

      const jumps: OffsetJump[] = [];
      const second = collector({ onJump: (jump) => void jumps.push(jump) });
      const next = await bus().consume({ group: topic.name, topics: [topic.name], handler: second.handler });
      await vi.waitFor(() => expect(second.texts()).toEqual(["after"]), LONG);
      expect(jumps).toEqual([{ ...partition, from: 10, to: 30 }]);
      await next.close();
    });

    it("the bus reports the messages that retention removed ahead of a reading group, and hands over all the others", async () => {
      const topic = newTopic({ partitions: 1 });
      await bus().declare([topic]);
      const jumps: OffsetJump[] = [];
      const handled: number[] = [];
      let release: () => void = () => undefined;
      const member = await bus().consume({
        group: topic.name,
        topics: [topic.name],
        handler: {
          async onMessages(messages) {
            handled.push(...messages.map((message) => message.offset));
            if (handled[0] === 0 && handled.length === 1) await new Promise<void>((resolve) => (release = resolve));
          },
          onJump: (jump) => void jumps.push(jump),
        },
      });
      await bus().send(topic.name, [textMessage("k", "first")]);
      await vi.waitFor(() => expect(handled).toEqual([0]), LONG);
      // More messages than a member fetches in advance.
      for (let n = 0; n < 12; n += 1) await bus().send(topic.name, [textMessage("k", `${n}`.repeat(400_000))]);
      await make().removeBefore(topic.name, 0, 13);
      await bus().send(topic.name, [textMessage("k", "last")]);
      release();
      await vi.waitFor(() => expect(handled.at(-1)).toBe(13), LONG);
      expect(jumps).toHaveLength(1);
      const { from = -1, to = -1 } = jumps[0] ?? {};
      expect(to).toBe(13);
      expect(handled).toEqual([...Array.from({ length: from }, (_, n) => n), 13]);
      await member.close();
    });

    it("a stalled member loses its partitions, its commits are refused when it wakes, and it may join again", async () => {
      const topic = newTopic({ partitions: 1 });
      await bus().declare([topic]);
      const child = await spawnMember({ bus: make().childBus, group: topic.name, topic: topic.name, commitEvery: 1 });
      const seen = collector();
      child.stall();
      const next = await bus().consume({ group: topic.name, topics: [topic.name], handler: seen.handler });
      await bus().send(topic.name, [textMessage("k", "v")]);
      await vi.waitFor(() => expect(seen.texts()).toEqual(["v"]), LONG);
      expect(child.events()).toEqual(["assigned"]);

      child.wake();
      await vi.waitFor(() => expect(child.events().slice(0, 3)).toEqual(["assigned", "revoked", "not-owner"]), LONG);
      await next.close();
      await vi.waitFor(() => expect(child.events().at(-1)).toBe("assigned"), LONG);
      await child.kill();
    });

    it("a paused partition hands over no message, and a partition waits for its busy handler", async () => {
      const topic = newTopic({ partitions: 2 });
      await bus().declare([topic]);
      const received: number[] = [];
      let release: () => void = () => undefined;
      let held = 0;
      const member = await bus().consume({
        group: topic.name,
        topics: [topic.name],
        handler: {
          async onMessages(messages) {
            for (const message of messages) received.push(message.partition);
            if (messages[0]?.partition === 0) {
              held += 1;
              await new Promise<void>((resolve) => (release = resolve));
            }
          },
        },
      });
      const keys = { 0: "key-1", 1: "key-0" } as const;
      const send = (partition: 0 | 1) => bus().send(topic.name, [textMessage(keys[partition], "x")]);
      await send(0);
      await vi.waitFor(() => expect(held).toBe(1), LONG);
      await send(0);
      await send(1);
      await vi.waitFor(() => expect(received).toContain(1), LONG);
      expect(received.filter((p) => p === 0)).toHaveLength(1);

      member.pause({ topic: topic.name, partition: 1 });
      await send(1);
      await new Promise((resolve) => setTimeout(resolve, 400));
      expect(received.filter((p) => p === 1)).toHaveLength(1);
      member.resume({ topic: topic.name, partition: 1 });
      await vi.waitFor(() => expect(received.filter((p) => p === 1)).toHaveLength(2), LONG);

      release();
      await vi.waitFor(() => expect(held).toBe(2), LONG);
      release();
      await member.close();
    });
  });

  describe("following", () => {
    it("a follower reads the whole topic as it was at the start, then new messages, independently of any group", async () => {
      const topic = newTopic();
      await bus().declare([topic]);
      await bus().send(topic.name, numbered(200, 20));
      const [one, two] = [collector(), collector()];
      const followers = [
        await bus().follow(topic.name, one.onMessages),
        await bus().follow(topic.name, two.onMessages),
      ];
      await Promise.all(followers.map((follower) => follower.caughtUp));
      expect([one.messages.length, two.messages.length]).toEqual([200, 200]);

      await bus().send(topic.name, [textMessage("key-0", "live")]);
      await vi.waitFor(() => expect([one.texts().at(-1), two.texts().at(-1)]).toEqual(["live", "live"]), LONG);
      await Promise.all(followers.map((follower) => follower.close()));
      await bus().send(topic.name, [textMessage("key-0", "late")]);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(one.texts()).not.toContain("late");
    });

    it("a follower of an empty topic has caught up immediately", async () => {
      const topic = newTopic();
      await bus().declare([topic]);
      const follower = await bus().follow(topic.name, () => Promise.resolve());
      await expect(follower.caughtUp).resolves.toBeUndefined();
      await follower.close();
    });
  });
}
