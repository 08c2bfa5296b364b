import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EMPTY_GROUP,
  expiredMembers,
  rebalance,
  surplus,
  takeable,
  withHolder,
  withMember,
  withoutHolder,
  withoutMember,
} from "../../../../../runtime/bus/embedded/group-state.ts";
import type { GroupState } from "../../../../../runtime/bus/embedded/group-state.ts";

const PARTITIONS = 6;
const partitionsOf = () => PARTITIONS;
const join = (state: GroupState, id: string) =>
  rebalance(withMember(state, id, { topics: ["t"], aliveAtMillis: 0 }), partitionsOf);
const leave = (state: GroupState, id: string) => rebalance(withoutMember(state, id), partitionsOf);
const takeAll = (state: GroupState, id: string) => withHolder(state, id, takeable(state, id));

describe("a group's state", () => {
  it("does not let a member take a partition that another one still holds, until that one has let go", () => {
    const alone = takeAll(join(EMPTY_GROUP, "a"), "a");
    const joined = join(alone, "b");
    expect(takeable(joined, "b")).toEqual([]);
    const leaving = surplus(joined, "a");
    expect(leaving).toHaveLength(3);
    const released = withoutHolder(joined, "a", leaving);
    expect(takeable(released, "b").toSorted()).toEqual(leaving.toSorted());
  });

  it("frees a member's partitions when the member is gone", () => {
    const two = join(takeAll(join(EMPTY_GROUP, "a"), "a"), "b");
    expect(takeable(leave(two, "a"), "b")).toHaveLength(PARTITIONS);
  });

  it("counts a generation for every rebalance", () => {
    expect(leave(join(join(EMPTY_GROUP, "a"), "b"), "a").generation).toBe(3);
  });

  it("finds members dead after their session, and members with a clock from before the machine's start", () => {
    const state = withMember(
      withMember(withMember(EMPTY_GROUP, "silent", { topics: [], aliveAtMillis: 1_000 }), "alive", {
        topics: [],
        aliveAtMillis: 3_500,
      }),
      "other boot",
      { topics: [], aliveAtMillis: 90_000 },
    );
    expect(expiredMembers(state, 4_001, 3_000)).toEqual(["silent", "other boot"]);
    expect(expiredMembers(state, 4_000, 3_000)).toEqual(["other boot"]);
  });

  it("never has two holders of a partition, and finally every partition has an owner, for any members that come and go", () => {
    const event = fc.record({
      kind: fc.constantFrom("join", "leave", "take", "release"),
      member: fc.constantFrom("a", "b", "c", "d"),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let state: GroupState = EMPTY_GROUP;
        const held = new Map<string, Set<string>>();
        for (const { kind, member } of events) {
          if (kind === "join") state = join(state, member);
          if (kind === "leave") {
            state = leave(state, member);
            held.delete(member);
          }
          if (kind === "release") {
            const names = surplus(state, member);
            state = withoutHolder(state, member, names);
            for (const name of names) held.get(member)?.delete(name);
          }
          if (kind === "take") {
            const names = takeable(state, member);
            state = withHolder(state, member, names);
            held.set(member, new Set([...(held.get(member) ?? []), ...names]));
          }
          const all = [...held.values()].flatMap((set) => [...set]);
          expect(new Set(all).size).toBe(all.length);
        }
        const members = Object.keys(state.members);
        for (const member of members) state = withoutHolder(state, member, surplus(state, member));
        for (const member of members) state = takeAll(state, member);
        expect(Object.keys(state.holders)).toHaveLength(members.length === 0 ? 0 : PARTITIONS);
        expect(state.holders).toEqual(state.targets);
      }),
    );
  });
});
