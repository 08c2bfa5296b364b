import { describe, expect, it } from "vitest";
import type { PodObject } from "../../../../collectors/kubernetes/projection/pod-object.ts";
import { projectPod, type PodProjection } from "../../../../collectors/kubernetes/projection/pod.ts";
import { ALONE, container, CREATED, pod } from "../../../support/kube-objects.ts";

const at = (seconds: number): string => new Date(Date.parse(CREATED) + seconds * 1000).toISOString();
const millis = (seconds: number): number => Date.parse(CREATED) + seconds * 1000;
const GPU = { "nvidia.com/gpu": 1 };

function project(parts: Parameters<typeof pod>[0], options = ALONE): PodProjection["fact"] {
  return projectPod(pod({ limits: GPU, ...parts }), options)!.fact;
}

describe("a pod's times", () => {
  it("come from its conditions and its containers' first starts and last ends", () => {
    const { times, restarts, phase } = project({
      status: {
        phase: "Succeeded",
        conditions: [
          { type: "PodScheduled", status: "True", lastTransitionTime: at(10) },
          { type: "Ready", status: "False", lastTransitionTime: at(900) },
        ],
        initContainerStatuses: [{ restartCount: 0, state: { terminated: { startedAt: at(40), finishedAt: at(60) } } }],
        containerStatuses: [
          {
            restartCount: 1,
            state: { terminated: { startedAt: at(300), finishedAt: at(800) } },
            lastState: { terminated: { startedAt: at(61) } },
          },
          { restartCount: 2, state: { terminated: { startedAt: at(62), finishedAt: at(900) } } },
        ],
      },
    });
    expect({ times, restarts, phase }).toEqual({
      times: { created: millis(0), scheduled: millis(10), started: millis(61), finished: millis(900) },
      restarts: 3,
      phase: "Succeeded",
    });
  });

  it("have the time since which it is ready", () => {
    const conditions = [{ type: "Ready", status: "True", lastTransitionTime: at(70) }];
    expect(project({ status: { phase: "Running", conditions } }).times.ready).toBe(millis(70));
  });

  it("have the end of the last condition for a pod that ended before any container ran", () => {
    const conditions = [{ type: "DisruptionTarget", status: "True", lastTransitionTime: at(33) }];
    expect(project({ status: { phase: "Failed", startTime: at(5), conditions } }).times.finished).toBe(millis(33));
  });

  it("have an end for a failed pod without any times: a GPU is not held forever", () => {
    expect(project({ status: { phase: "Failed" } }).times.finished).toBe(millis(0));
  });

  it("subtract the grace period from the time of deletion", () => {
    const metadata = { deletionTimestamp: at(130), deletionGracePeriodSeconds: 30 };
    expect(project({ metadata }).times.deletion).toBe(millis(100));
  });

  it("ignore the epoch that kubelet writes for a lost container", () => {
    const lost = { state: { terminated: { startedAt: "1970-01-01T00:00:00Z", finishedAt: "1970-01-01T00:00:00Z" } } };
    expect(project({ status: { phase: "Running", containerStatuses: [lost] } }).times).not.toHaveProperty("started");
  });

  it("have a remark if the creation is not a time", () => {
    const projected = projectPod(pod({ limits: GPU, metadata: { creationTimestamp: "yesterday" } }), ALONE)!;
    expect(projected.fact.times.created).toBe(0);
    expect(projected.remarks).toEqual([
      { reason: "time", text: expect.stringContaining("creationTimestamp is not a time") as string },
    ]);
  });
});

describe("the reason of a pod's end", () => {
  const terminated = (reason: string): PodObject["status"] => ({
    phase: "Failed",
    containerStatuses: [{ state: { terminated: { reason, finishedAt: at(1) } } }],
  });
  const disrupted = (reason: string, phase = "Failed"): PodObject["status"] => ({
    phase,
    conditions: [{ type: "DisruptionTarget", status: "True", reason }],
  });

  it.each<readonly [string, string | undefined, PodObject["status"]]>([
    ["it completed", "completed", { phase: "Succeeded" }],
    ["a container failed", "failed", terminated("Error")],
    ["a container ran out of memory", "out-of-memory", terminated("OOMKilled")],
    ["kubelet evicted it", "evicted", { phase: "Failed", reason: "Evicted" }],
    ["its node was drained", "evicted", disrupted("EvictionByEvictionAPI")],
    ["a higher priority took its place", "preempted", disrupted("PreemptionByScheduler")],
    ["it is about to be preempted", "preempted", disrupted("PreemptionByScheduler", "Running")],
    ["a critical pod took its place", "preempted", { phase: "Failed", reason: "Preempting" }],
    ["its node was lost", "node-lost", { phase: "Unknown", reason: "NodeLost" }],
    ["its node is gone and garbage was collected", "node-lost", disrupted("DeletionByPodGC")],
    ["its node shut down", "node-lost", { phase: "Failed", reason: "Terminated" }],
    ["a disruption has an unknown name", "evicted", disrupted("constructor")],
    ["it runs", undefined, { phase: "Running" }],
  ])("is known if %s", (_, reason, status) => {
    expect(project({ status: status! }).endReason).toBe(reason);
  });
});

describe("the reason for which a pod waits", () => {
  const waiting = (...reasons: readonly string[]): PodObject["status"] => ({
    phase: "Pending",
    containerStatuses: reasons.map((reason) => ({ state: { waiting: { reason, message: `${reason}!` } } })),
  });

  it.each<readonly [string, object | undefined, Parameters<typeof pod>[0]]>([
    [
      "it fits on no node",
      { reason: "Unschedulable", message: "0/9 nodes are available" },
      {
        status: {
          phase: "Pending",
          conditions: [
            { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/9 nodes are available" },
          ],
        },
      },
    ],
    [
      "its queue holds it back by a gate",
      { reason: "SchedulingGated", message: "kueue.x-k8s.io/admission" },
      {
        spec: { nodeName: "", containers: [container(GPU)], schedulingGates: [{ name: "kueue.x-k8s.io/admission" }] },
        status: { phase: "Pending" },
      },
    ],
    [
      "its image cannot be pulled",
      { reason: "ImagePullBackOff", message: "ImagePullBackOff!" },
      { status: waiting("ContainerCreating", "ImagePullBackOff")! },
    ],
    [
      "its containers are being made",
      { reason: "ContainerCreating", message: "ContainerCreating!" },
      { status: waiting("ContainerCreating")! },
    ],
    [
      "it runs",
      undefined,
      { status: { phase: "Running", containerStatuses: [{ state: { running: { startedAt: at(1) } } }] } },
    ],
    ["it has ended", undefined, { status: { ...waiting("Error"), phase: "Failed" } }],
  ])("is known if %s", (_, pending, parts) => {
    expect(project(parts).pending).toEqual(pending);
  });

  it("is truncated if the scheduler writes a page", () => {
    const conditions = [{ type: "PodScheduled", status: "False", message: "x".repeat(9000) }];
    expect(project({ status: { phase: "Pending", conditions } }).pending?.message).toHaveLength(500);
  });
});

describe("a pod's queue and gang", () => {
  it.each([["kueue.x-k8s.io/queue-name"], ["kai.scheduler/queue"], ["runai/queue"], ["volcano.sh/queue-name"]])(
    "the queue is in the label %s",
    (label) => {
      expect(project({ metadata: { labels: { [label]: "red" } } }).queue).toBe("red");
    },
  );

  it.each<readonly [string, object, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
    [
      "a PodGroup of Volcano",
      { kind: "PodGroup", name: "pg-1", size: 0 },
      {},
      { "scheduling.k8s.io/group-name": "pg-1" },
    ],
    ["a PodGroup of KAI or Run:ai", { kind: "PodGroup", name: "pg-2", size: 0 }, {}, { "pod-group-name": "pg-2" }],
    ["Grove's PodGang", { kind: "PodGang", name: "llama-0", size: 0 }, { "grove.io/podgang": "llama-0" }, {}],
    [
      "a group of pods in Kueue",
      { kind: "Workload", name: "trio", size: 3 },
      { "kueue.x-k8s.io/pod-group-name": "trio" },
      { "kueue.x-k8s.io/pod-group-total-count": "3" },
    ],
    [
      "a group of a LeaderWorkerSet",
      { kind: "LeaderWorkerSet", name: "llama-1", size: 4 },
      { "leaderworkerset.sigs.k8s.io/name": "llama", "leaderworkerset.sigs.k8s.io/group-index": "1" },
      { "leaderworkerset.sigs.k8s.io/size": "4" },
    ],
    ["a JobSet", { kind: "JobSet", name: "pretrain", size: 0 }, { "jobset.sigs.k8s.io/jobset-name": "pretrain" }, {}],
    [
      "a group with an impossible size",
      { kind: "Workload", name: "trio", size: 0 },
      { "kueue.x-k8s.io/pod-group-name": "trio" },
      { "kueue.x-k8s.io/pod-group-total-count": "many" },
    ],
  ])("the gang is %s", (_, gang, labels, annotations) => {
    expect(project({ metadata: { labels, annotations } }).gang).toEqual(gang);
  });

  it.each([
    [
      "a PodGroup of kube-scheduler",
      { schedulingGroup: { podGroupName: "pg-3" } },
      { kind: "PodGroup", name: "pg-3", size: 0 },
    ],
    [
      "a Workload of Kubernetes 1.35",
      { workloadRef: { name: "w", podGroup: "a" } },
      { kind: "Workload", name: "w", size: 0 },
    ],
  ])("the gang is %s, with precedence over labels", (_, spec, gang) => {
    expect(project({ spec, metadata: { labels: { "pod-group-name": "pg-2" } } }).gang).toEqual(gang);
  });

  it("take size, queue and admission from the gang's own object if the pod does not have them", () => {
    const options = { ...ALONE, gangFacts: () => ({ size: 8, queue: "blue", queued: 1, admitted: 2 }) };
    const fact = project({ metadata: { labels: { "jobset.sigs.k8s.io/jobset-name": "pretrain" } } }, options);
    expect([fact.gang, fact.queue, fact.times.queued, fact.times.admitted]).toEqual([
      { kind: "JobSet", name: "pretrain", size: 8 },
      "blue",
      1,
      2,
    ]);
  });
});

describe("other fields of a pod", () => {
  it("are the configured labels, from its nearest owner if the pod lacks them, and the data for the placement", () => {
    const options = {
      ...ALONE,
      labels: ["team", "mlflow.org/*"],
      annotations: ["wandb.ai/run-id"],
      lookup: () => ({
        labels: { team: "of the owner", "mlflow.org/run": "r-7" },
        annotations: { "wandb.ai/run-id": "w-1" },
      }),
    };
    const fact = project(
      {
        metadata: {
          labels: { team: "vision", "pod-template-hash": "5d4f" },
          ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "train", uid: "j-1", controller: true }],
        },
        spec: {
          nodeName: "node-1",
          containers: [container(GPU)],
          priorityClassName: "high",
          nodeSelector: { pool: "h100" },
          tolerations: [{ key: "nvidia.com/gpu", operator: "Exists" }, { operator: "Exists" }],
        },
      },
      options,
    );
    expect(fact).toMatchObject({
      node: "node-1",
      labels: { team: "vision", "mlflow.org/run": "r-7" },
      annotations: { "wandb.ai/run-id": "w-1" },
      priorityClass: "high",
      nodeSelector: { pool: "h100" },
      tolerations: ["*", "nvidia.com/gpu"],
      workload: { kind: "Job", name: "train" },
      type: "training",
    });
    expect(Object.keys(fact.labels)).toHaveLength(2);
  });

  it("take a label of the nearest owner before that of an owner above", () => {
    const up = { apiVersion: "batch/v1", kind: "CronJob", name: "nightly", uid: "c-1" };
    const first = { apiVersion: "batch/v1", kind: "Job", name: "nightly-1", uid: "j-1" };
    const options = {
      ...ALONE,
      labels: ["team"],
      annotations: ["run"],
      lookup: ({ kind }: { readonly kind: string }) =>
        kind === "Job"
          ? { ownerReferences: [up], labels: { team: "near" }, annotations: { run: "near" } }
          : { labels: { team: "far" }, annotations: { run: "far" } },
    };
    const fact = project({ metadata: { ownerReferences: [first] } }, options);
    expect([fact.labels, fact.annotations]).toEqual([{ team: "near" }, { run: "near" }]);
  });
});
