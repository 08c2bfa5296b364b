import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ClusterFact } from "../../../../domain/cluster-fact.ts";
import type { WorkloadFact } from "../../../../domain/workload.ts";
import { createQueueBoard, type QueueBoard } from "../../../../processors/live/queue-board.ts";
import { viewQueue, type QueueView } from "../../../../domain/queue/view.ts";
import { inventoryFact, namespaceFact, NOON, workloadFact } from "../../../support/facts.ts";
import { ownerRules } from "../../../support/owner-rules.ts";
import { MINUTE_MILLIS as MINUTE } from "../../../../domain/time.ts";

const OWNERS = ownerRules({
  team: [{ podLabel: "team" }, { namespaceLabel: "team" }, { pool: "lab-*", value: "lab" }],
});

function board(...facts: readonly (WorkloadFact | ClusterFact)[]): QueueBoard {
  const made = createQueueBoard(OWNERS, () => NOON);
  for (const fact of facts) take(made, fact);
  return made;
}

function take(to: QueueBoard, fact: WorkloadFact | ClusterFact): void {
  if ("kind" in fact) to.clusterFact(fact);
  else to.workload(fact);
}

const view = (...facts: readonly (WorkloadFact | ClusterFact)[]): QueueView => viewQueue(board(...facts), NOON);

/** A pod that has waited for a node for `minutes`. */
function pending(name: string, minutes: number, given: Partial<WorkloadFact> = {}): WorkloadFact {
  return workloadFact({
    uid: name,
    name,
    node: "",
    phase: "Pending",
    labels: {},
    times: { created: NOON - minutes * MINUTE },
    pending: { reason: "Unschedulable", message: "0/17 nodes are available" },
    ...given,
  });
}

/** A pod of a gang of three that has been bound for `minutes`. */
function bound(name: string, minutes: number, given: Partial<WorkloadFact> = {}): WorkloadFact {
  const times = { created: NOON - 60 * MINUTE, scheduled: NOON - minutes * MINUTE };
  return workloadFact({ uid: name, name, times, gang: { kind: "PodGroup", name: "gang", size: 3 }, ...given });
}

describe("pods that wait", () => {
  it("are counted by team, queue, priority and reason, with the age of the oldest", () => {
    const research = { queue: "research", priorityClass: "batch", labels: { team: "vision" } };
    const { pending: groups } = view(
      pending("a", 5, research),
      pending("b", 12, { ...research, asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 8 }] }),
      pending("c", 3, { ...research, pending: { reason: "SchedulingGated", message: "" } }),
      workloadFact({ uid: "runs" }),
    );
    const shared = { cluster: "test", team: "vision", queue: "research", priorityClass: "batch" };
    expect(groups).toEqual([
      { ...shared, reason: "Unschedulable", pods: 2, devices: 9, oldestSeconds: 720 },
      { ...shared, reason: "SchedulingGated", pods: 1, devices: 1, oldestSeconds: 180 },
    ]);
  });

  it("have waited since they were queued, if the queue reports the time", () => {
    const { longest } = view(pending("a", 5, { times: { created: NOON - 5 * MINUTE, queued: NOON - 50 * MINUTE } }));
    expect(longest).toMatchObject([{ name: "a", waitingSeconds: 3000, message: "0/17 nodes are available" }]);
  });

  it("are listed one by one, the longest wait first", () => {
    const { longest } = view(...Array.from({ length: 25 }, (_, i) => pending(`pod-${i}`, i)));
    expect(longest.map(({ name }) => name)).toEqual(Array.from({ length: 20 }, (_, i) => `pod-${24 - i}`));
  });

  it("belong to the team that owns their node's pool, if a rule names it", () => {
    const made = board(bound("a", 1, { labels: {}, node: "gpu-a" }));
    made.inventory(inventoryFact({ node: "gpu-a", pool: "lab-a" }));
    expect(made.pods().map(({ team }) => team)).toEqual(["lab"]);
    made.inventory(inventoryFact({ node: "gpu-a", pool: "other", resourceVersion: "101" }));
    expect(made.pods().map(({ team }) => team)).toEqual(["unowned"]);
  });

  it("belong to the team of their namespace, in any order of the facts, and to no team when the namespace is gone", () => {
    const namespace = namespaceFact();
    expect(view(pending("a", 1), namespace).pending[0]!.team).toBe("vision");
    expect(view(namespace, pending("a", 1)).pending[0]!.team).toBe("vision");
    const gone = namespaceFact({ resourceVersion: "101", end: { atMillis: NOON, inferred: false } });
    expect(view(namespace, pending("a", 1), gone).pending[0]!.team).toBe("unowned");
  });

  it("leave the queue when they are bound or end, or when their tombstone comes", () => {
    const made = board(pending("a", 1), pending("b", 1), pending("c", 1), pending("d", 1));
    take(made, workloadFact({ uid: "a", name: "a", resourceVersion: "101" }));
    take(made, pending("b", 1, { resourceVersion: "101", end: { atMillis: NOON, inferred: false } }));
    made.tombstone("workload", JSON.stringify(["test", "c"]));
    expect(viewQueue(made, NOON).longest.map(({ name }) => name)).toEqual(["d"]);
  });
});

describe("gangs", () => {
  it("that hold GPUs while other members have never been bound are listed, with their GPUs and the time", () => {
    const gang = { kind: "PodGroup", name: "gang", size: 3 };
    const { gangs } = view(bound("a", 20), bound("b", 10), pending("c", 20, { gang }));
    expect(gangs).toMatchObject([{ name: "gang", size: 3, holdingPods: 2, heldDevices: 2, holdingSeconds: 1200 }]);
  });

  it("are one row of the longest waits, with all their waiting devices", () => {
    const gang = { kind: "PodGroup", name: "gang", size: 3 };
    const { longest } = view(pending("a", 5, { gang }), pending("b", 20, { gang }), pending("c", 10));
    expect(
      longest.map(({ name, pods, devices, waitingSeconds, gang: of }) => [
        name,
        pods,
        devices,
        waitingSeconds,
        of?.name,
      ]),
    ).toEqual([
      ["b", 2, 2, 1200, "gang"],
      ["c", 1, 1, 600, undefined],
    ]);
  });

  it("whose last members are not created yet wait too", () => {
    expect(view(bound("a", 20)).gangs).toMatchObject([{ holdingPods: 1, size: 3 }]);
  });

  it("that were complete once never wait again: members may finish, fail and be recreated", () => {
    const gang = { kind: "PodGroup", name: "gang", size: 3 };
    const failed = bound("c", 30, {
      phase: "Failed",
      times: { created: NOON - 60 * MINUTE, scheduled: NOON - 30 * MINUTE, finished: NOON - 5 * MINUTE },
    });
    expect(view(bound("a", 30), bound("b", 30), failed, pending("d", 4, { gang })).gangs).toEqual([]);
  });

  it("that were never complete at one time wait, whatever number of members have come and gone", () => {
    const early = bound("a", 50, {
      phase: "Failed",
      times: { created: NOON - 60 * MINUTE, scheduled: NOON - 50 * MINUTE, finished: NOON - 40 * MINUTE },
    });
    expect(view(early, bound("b", 30), bound("c", 30)).gangs).toMatchObject([{ holdingPods: 2 }]);
  });

  it("without a bound member only wait", () => {
    const gang = { kind: "PodGroup", name: "gang", size: 3 };
    expect(view(pending("a", 1, { gang }), pending("b", 1, { gang })).gangs).toEqual([]);
  });
});

describe("quotas and queues", () => {
  const origin = { cluster: "test", epoch: 1, resourceVersion: "100", seenAtMillis: NOON };

  it("have the granted, used and remaining amount of each resource", () => {
    const quota: ClusterFact = {
      ...origin,
      kind: "ResourceQuota",
      resource: "resourcequotas",
      namespace: "ml",
      name: "gpus",
      uid: "q",
      body: { hard: { "nvidia.com/gpu": 8 }, used: { "nvidia.com/gpu": 5 } },
    };
    const queue: ClusterFact = {
      ...origin,
      kind: "Queue",
      resource: "clusterqueues.kueue.x-k8s.io",
      namespace: "",
      name: "research",
      uid: "c",
      body: {
        scheduler: "kueue",
        parent: "all",
        quota: { "nvidia.com/gpu": 16 },
        admitted: { "nvidia.com/gpu": 20 },
        borrowed: { "nvidia.com/gpu": 4 },
        pending: 3,
      },
    };
    const { quotas, queues } = view(quota, queue);
    expect(quotas).toMatchObject([{ namespace: "ml", resource: "nvidia.com/gpu", hard: 8, used: 5, left: 3 }]);
    expect(queues).toMatchObject([{ name: "research", parent: "all", quota: 16, admitted: 20, borrowed: 4 }]);
  });
});

it("the view is the same for any order of the facts, and for any repetitions", () => {
  const gang = { kind: "PodGroup", name: "gang", size: 3 };
  const facts: readonly (WorkloadFact | ClusterFact)[] = [
    namespaceFact(),
    pending("a", 9, { gang }),
    workloadFact({ uid: "a", name: "a", gang, resourceVersion: "101", seenAtMillis: NOON + 1 }),
    bound("b", 20),
    bound("b", 20, { resourceVersion: "102", end: { atMillis: NOON, inferred: true } }),
    pending("c", 3, { gang }),
    bound("e", 30, { gang: { kind: "PodGroup", name: "other", size: 2 } }),
    bound("f", 30, {
      gang: { kind: "PodGroup", name: "other", size: 2 },
      end: { atMillis: NOON - MINUTE, inferred: false },
    }),
    pending("d", 7),
    pending("d", 7, { resourceVersion: "99", pending: { reason: "SchedulingGated", message: "" } }),
  ];
  const sorted = ({ pending: groups, longest, gangs }: QueueView): unknown => ({
    groups: groups.map((group) => JSON.stringify(group)).toSorted(),
    longest: longest.map(({ name }) => name).toSorted(),
    gangs,
  });
  const wanted = sorted(view(...facts));
  fc.assert(
    fc.property(fc.shuffledSubarray([...facts, ...facts], { minLength: facts.length * 2 }), (some) => {
      expect(sorted(view(...some))).toEqual(wanted);
    }),
  );
});
