import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { KubernetesObject } from "../../demo/kubernetes/server/object.ts";
import { ADDED_RESOURCES, BUILT_IN_RESOURCES } from "../../demo/kubernetes/server/resources.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import { openTestBus } from "../support/pipeline.ts";
import { followFacts, startTestWatcher, type SentFacts, type TestWatcher } from "../support/watcher.ts";

const LONG = { timeout: 90_000, interval: 10 };
const CREATED = "2026-05-01T12:00:00Z";

let server: ApiServer;
let bus: Bus;
let sent: SentFacts;
let closeBus: () => Promise<void>;
const watchers: TestWatcher[] = [];

beforeEach(async () => {
  server = await startApiServer({ resources: BUILT_IN_RESOURCES, bookmarkMillis: 50 });
  ({ bus, close: closeBus } = await openTestBus());
  sent = await followFacts(bus);
});
afterEach(async () => {
  await Promise.all(watchers.splice(0).map((watcher) => watcher.stop()));
  await sent.close();
  await closeBus();
  await server.stop();
});

function watch(given: Parameters<typeof startTestWatcher>[2] = {}): TestWatcher {
  const watcher = startTestWatcher(server, bus, given);
  watchers.push(watcher);
  return watcher;
}

function gpuPod(
  name: string,
  given: { uid?: string; node?: string; phase?: string; metadata?: object } = {},
): KubernetesObject {
  const { uid = `uid-${name}`, node = "gpu-a", phase = "Running", metadata = {} } = given;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "ml", uid, creationTimestamp: CREATED, ...metadata },
    spec: {
      ...(node === "" ? {} : { nodeName: node }),
      containers: [{ name: "main", resources: { limits: { "nvidia.com/gpu": "1" } } }],
    },
    status: { phase },
  } as KubernetesObject;
}

function gpuNode(name: string, uid = `uid-${name}`, spec: object = {}): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, uid, creationTimestamp: CREATED, labels: { "nvidia.com/gpu.count": "8" } },
    spec,
    status: { capacity: { "nvidia.com/gpu": "8" }, allocatable: { "nvidia.com/gpu": "8" }, conditions: [] },
  } as KubernetesObject;
}

const names = (): string[] => sent.workloads.map(({ name }) => name);

describe("the objects of a cluster become facts", () => {
  it("pods that request GPUs, nodes that have them and namespaces become facts, with the term and the version", async () => {
    server.put({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "ml", uid: "ns", labels: { team: "vision" } },
    });
    server.put(gpuNode("gpu-a"));
    const version = server.put(gpuPod("train-0"));
    server.put({ ...gpuPod("web-0"), spec: { nodeName: "gpu-a", containers: [{ name: "main" }] } } as KubernetesObject);
    const { log } = watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    await vi.waitFor(() => expect(sent.cluster).toHaveLength(1), LONG);
    await vi.waitFor(() => expect(sent.inventory).toHaveLength(1), LONG);
    expect(sent.workloads[0]).toMatchObject({
      cluster: "test",
      name: "train-0",
      resourceVersion: version,
      epoch: log.epochs[0],
      asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 1 }],
    });
    expect(sent.inventory).toMatchObject([{ node: "gpu-a", gpus: [{ count: 8 }] }]);
    expect(sent.cluster).toMatchObject([
      { kind: "Namespace", resource: "namespaces", body: { labels: { team: "vision" } } },
    ]);
  });

  it("a change without new content is not a fact: a heartbeat, a label that is not configured", async () => {
    server.put(gpuPod("train-0"));
    watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    server.put(gpuPod("train-0", { metadata: { labels: { "build-number": "7" } } }));
    server.put(gpuPod("train-0", { metadata: { labels: { team: "vision" } } }));
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    expect(sent.workloads.map(({ labels }) => labels)).toEqual([{}, { team: "vision" }]);
  });

  it("owners are read by their metadata alone and Jobs with their deadline, once each, and only those of GPU pods", async () => {
    const job = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "job-1", controller: true };
    const cronJob = { apiVersion: "batch/v1", kind: "CronJob", name: "nightly", uid: "cron-1", controller: true };
    server.put({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: {
        name: "train",
        namespace: "ml",
        uid: "job-1",
        labels: { team: "speech" },
        ownerReferences: [{ ...cronJob, blockOwnerDeletion: true }],
      },
      spec: { activeDeadlineSeconds: 7_200 },
    });
    server.put({
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "nightly", namespace: "ml", uid: "cron-1" },
    });
    for (const name of ["train-0", "train-1", "train-2"])
      server.put(gpuPod(name, { metadata: { ownerReferences: [job] } }));
    server.put({
      ...gpuPod("web-0", { metadata: { ownerReferences: [{ ...job, name: "other", uid: "job-2" }] } }),
      spec: { containers: [{ name: "main" }] },
    } as KubernetesObject);
    watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(3), LONG);
    for (const fact of sent.workloads) {
      expect(fact).toMatchObject({
        workload: { kind: "CronJob", name: "nightly" },
        labels: { team: "speech" },
        ownersTruncated: false,
        deadlineSeconds: 7_200,
      });
    }
    const asked = server.requests.all.filter(({ path }) => /\/(cron)?jobs\//.test(path));
    expect(asked.map(({ path }) => path)).toEqual([
      "/apis/batch/v1/namespaces/ml/jobs/train",
      "/apis/batch/v1/namespaces/ml/cronjobs/nightly",
    ]);
    expect(asked[0]!.accept).toBe("application/json");
    expect(asked[1]!.accept).toContain("as=PartialObjectMetadata");
  });

  it("a missing owner, or a name that belongs to another object now, ends the chain", async () => {
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "job-1", controller: true };
    server.put({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "train", namespace: "ml", uid: "job-2", labels: { team: "x" } },
    });
    server.put(gpuPod("train-0", { metadata: { ownerReferences: [owner] } }));
    server.put(gpuPod("train-1", { metadata: { ownerReferences: [{ ...owner, name: "gone", uid: "job-3" }] } }));
    watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    for (const fact of sent.workloads) expect(fact).toMatchObject({ ownersTruncated: true, labels: {} });
  });

  it("groups of operators are followed when they are installed, and end when they are removed", async () => {
    const { log } = watch();
    await vi.waitFor(() => expect(log.installed).toContain("pods"), LONG);
    expect(log.installed).not.toContain("podgroups.scheduling.volcano.sh");
    server.install(ADDED_RESOURCES);
    server.put({
      apiVersion: "scheduling.volcano.sh/v1beta1",
      kind: "PodGroup",
      metadata: { name: "gang", namespace: "ml", uid: "pg-1" },
      spec: { minMember: 4 },
    } as KubernetesObject);
    await vi.waitFor(() => expect(sent.cluster).toMatchObject([{ kind: "Gang", body: { size: 4 } }]), LONG);
    server.put(gpuPod("worker-0", { metadata: { annotations: { "scheduling.k8s.io/group-name": "gang" } } }));
    await vi.waitFor(() => expect(sent.workloads[0]?.gang).toEqual({ kind: "PodGroup", name: "gang", size: 4 }), LONG);
    server.remove("scheduling.volcano.sh");
    await vi.waitFor(() => expect(log.removed).toContain("podgroups.scheduling.volcano.sh"), LONG);
    await vi.waitFor(() => expect(sent.cluster.at(-1)?.end).toBeDefined(), LONG);
  });

  it("a container's earliest start stays after two restarts", async () => {
    const started = (at: string, before: string): object => ({
      phase: "Running",
      containerStatuses: [
        { restartCount: 2, state: { running: { startedAt: at } }, lastState: { terminated: { startedAt: before } } },
      ],
    });
    server.put({
      ...gpuPod("train-0"),
      status: started("2026-05-01T12:02:00Z", "2026-05-01T12:01:00Z"),
    } as KubernetesObject);
    watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    server.put({
      ...gpuPod("train-0"),
      status: started("2026-05-01T14:00:00Z", "2026-05-01T13:00:00Z"),
    } as KubernetesObject);
    server.put(gpuPod("train-0", { phase: "Succeeded" }));
    await vi.waitFor(() => expect(sent.workloads.at(-1)?.phase).toBe("Succeeded"), LONG);
    expect(sent.workloads.at(-1)?.times.started).toBe(Date.parse("2026-05-01T12:01:00Z"));
  });

  it("the time of a pod's images is read from kubelet's events, in any order of the two, and later pulls do not count", async () => {
    const pulled = (pod: string, name: string, at: string, reason = "Pulled"): void =>
      void server.put({
        apiVersion: "v1",
        kind: "Event",
        metadata: { name, namespace: "ml", uid: `uid-${name}` },
        involvedObject: { kind: "Pod", uid: `uid-${pod}` },
        reason,
        firstTimestamp: at,
        lastTimestamp: at,
      } as KubernetesObject);
    const running = {
      phase: "Running",
      containerStatuses: [{ state: { running: { startedAt: "2026-05-01T12:02:00Z" } } }],
    };
    pulled("before", "before.1", "2026-05-01T12:01:10Z");
    server.put({ ...gpuPod("before"), status: running } as KubernetesObject);
    server.put(gpuPod("after", { phase: "Pending" }));
    watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    expect(sent.ofPod("before")[0]!.times.pulled).toBe(Date.parse("2026-05-01T12:01:10Z"));
    pulled("after", "after.1", "2026-05-01T12:01:20Z");
    pulled("after", "after.2", "2026-05-01T12:01:40Z");
    pulled("after", "after.3", "2026-05-01T12:01:50Z", "Scheduled");
    await vi.waitFor(() => expect(sent.ofPod("after")).toHaveLength(3), LONG);
    server.put({ ...gpuPod("after"), status: running } as KubernetesObject);
    await vi.waitFor(() => expect(sent.ofPod("after")).toHaveLength(4), LONG);
    pulled("after", "after.4", "2026-05-01T15:00:00Z");
    server.put({
      ...gpuPod("after", { metadata: { labels: { team: "vision" } } }),
      status: running,
    } as KubernetesObject);
    await vi.waitFor(() => expect(sent.ofPod("after").at(-1)?.labels).toEqual({ team: "vision" }), LONG);
    expect(sent.ofPod("after").at(-1)!.times.pulled).toBe(Date.parse("2026-05-01T12:01:40Z"));
  });

  it("a node's device plugin is recognized by its pod's image, and stays after later changes of the node", async () => {
    server.put(gpuNode("gpu-a"));
    const plugin = (tag: string): KubernetesObject =>
      ({
        ...gpuPod("plugin"),
        spec: {
          nodeName: "gpu-a",
          containers: [{ name: "p", image: `nvcr.io:443/nvidia/k8s-device-plugin:${tag}@sha256:0` }],
        },
      }) as KubernetesObject;
    server.put(plugin("v0.17.1"));
    watch();
    await vi.waitFor(() => expect(sent.inventory.at(-1)?.devicePluginVersion).toBe("v0.17.1"), LONG);
    server.put(gpuNode("gpu-a", "uid-gpu-a", { unschedulable: true }));
    await vi.waitFor(() => expect(sent.inventory.at(-1)?.cordonedSince).toBeDefined(), LONG);
    expect(sent.inventory.at(-1)?.devicePluginVersion).toBe("v0.17.1");
    server.put(plugin("v0.18.0"));
    await vi.waitFor(() => expect(sent.inventory.at(-1)?.devicePluginVersion).toBe("v0.18.0"), LONG);
    expect(sent.workloads).toEqual([]);
  });

  it("a node is cordoned since that was first seen, also after later changes", async () => {
    server.put(gpuNode("gpu-a"));
    watch();
    await vi.waitFor(() => expect(sent.inventory).toHaveLength(1), LONG);
    const before = Date.now() - 2_000;
    server.put(gpuNode("gpu-a", "uid-gpu-a", { unschedulable: true }));
    await vi.waitFor(() => expect(sent.inventory).toHaveLength(2), LONG);
    server.put(
      gpuNode("gpu-a", "uid-gpu-a", { unschedulable: true, taints: [{ key: "repair", effect: "NoSchedule" }] }),
    );
    await vi.waitFor(() => expect(sent.inventory).toHaveLength(3), LONG);
    const [first, later] = [sent.inventory[1]!.cordonedSince, sent.inventory[2]!.cordonedSince];
    expect(first).toBeGreaterThan(before);
    expect(later).toBe(first);
  });
});

describe("removed objects end", () => {
  it("a deleted pod ends at its deletion, which its fact has", async () => {
    server.put(gpuPod("train-0"));
    watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    server.delete(gpuPod("train-0"));
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    expect(sent.workloads[1]).toMatchObject({ name: "train-0", endReason: "deleted", end: { inferred: false } });
  });

  it("a name that comes back with another UID is another pod", async () => {
    server.put(gpuPod("train-0", { uid: "one" }));
    watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    server.delete(gpuPod("train-0"));
    server.put(gpuPod("train-0", { uid: "two" }));
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(3), LONG);
    const endsOf = (pod: string): readonly boolean[] =>
      sent.workloads.filter(({ uid }) => uid === pod).map(({ end }) => end !== undefined);
    // The order of two pods depends on whether a list or a watch has found them.
    expect([endsOf("one"), endsOf("two")]).toEqual([[false, true], [false]]);
  });

  it("a node that comes back under its name with another UID does not end with the machine before it", async () => {
    server.put(gpuNode("gpu-a", "machine-1"));
    const first = watch();
    await vi.waitFor(() => expect(sent.inventory).toHaveLength(1), LONG);
    await first.stop();
    server.delete(gpuNode("gpu-a"));
    server.put(gpuNode("gpu-a", "machine-2"));
    watch({ identity: "second" });
    await vi.waitFor(() => expect(sent.inventory.at(-1)?.uid).toBe("machine-2"), LONG);
    server.put(gpuNode("gpu-b"));
    await vi.waitFor(() => expect(sent.inventory.at(-1)?.node).toBe("gpu-b"), LONG);
    expect(sent.inventory.filter(({ node }) => node === "gpu-a").at(-1)).toMatchObject({ uid: "machine-2" });
    expect(sent.inventory.filter(({ node }) => node === "gpu-a").at(-1)?.end).toBeUndefined();
  });

  it("an object that was deleted while no watcher ran has an inferred end, at the last check of the former watcher", async () => {
    server.put(gpuPod("train-0"));
    server.put(gpuPod("train-1"));
    const first = watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await first.stop();
    const stoppedAt = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 300));
    server.delete(gpuPod("train-0"));
    watch({ identity: "second" });
    await vi.waitFor(() => expect(sent.ofPod("train-0").at(-1)?.end).toBeDefined(), LONG);
    const { end, endReason, seenAtMillis } = sent.ofPod("train-0").at(-1)!;
    expect(end?.inferred).toBe(true);
    expect(endReason).toBe("unknown");
    expect(end!.atMillis).toBeGreaterThan(seenAtMillis);
    expect(end!.atMillis).toBeLessThanOrEqual(stoppedAt);
    expect(sent.ofPod("train-1").every(({ end: ended }) => ended === undefined)).toBe(true);
  });

  it("tombstones follow the ends, later", async () => {
    server.put(gpuPod("train-0"));
    watch({ removeEndedAfterMillis: 500 });
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    server.delete(gpuPod("train-0"));
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    expect(sent.tombstones).toEqual([]);
    await vi.waitFor(() => expect(sent.tombstones).toEqual([JSON.stringify(["test", "uid-train-0"])]), LONG);
  });
});

describe("one of several watchers sends facts", () => {
  it("of two watchers only one sends facts, and the other continues when that one ends", async () => {
    server.put(gpuPod("train-0"));
    const first = watch({ identity: "first" });
    await vi.waitFor(() => expect(names()).toEqual(["train-0"]), LONG);
    const second = watch({ identity: "second" });
    server.put(gpuPod("train-1"));
    await vi.waitFor(() => expect(names()).toEqual(["train-0", "train-1"]), LONG);
    expect(second.watcher.state().watching).toBe(false);
    await first.stop();
    await vi.waitFor(() => expect(second.watcher.state().watching).toBe(true), LONG);
    server.put(gpuPod("train-2"));
    await vi.waitFor(() => expect(names()).toContain("train-2"), LONG);
    // Unchanged objects are already known.
    expect(names().toSorted()).toEqual(["train-0", "train-1", "train-2"]);
    expect(second.log.epochs[0]).toBeGreaterThan(first.log.epochs[0]!);
  });

  it("a change under a former term is sent again by the next one, even if the object looks the same", async () => {
    server.put(gpuPod("train-0"));
    const first = watch({ identity: "first" });
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    await first.stop();
    // There and back: a former watcher may still send the version in between.
    server.put(gpuPod("train-0", { phase: "Pending" }));
    const version = server.put(gpuPod("train-0"));
    const second = watch({ identity: "second" });
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    expect(sent.workloads[1]).toMatchObject({
      phase: "Running",
      resourceVersion: version,
      epoch: second.log.epochs[0],
    });
  });
});
