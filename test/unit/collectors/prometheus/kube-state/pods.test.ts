import { IMPORTED_MARK } from "../../../../../domain/workload.ts";
import { describe, expect, it } from "vitest";

import type { StateObject } from "../../../../support/kube-state-metrics.ts";
import { importScrapes, importSeries, scrapesOf, scrapeTime, timeText } from "../../../../support/state-import.ts";

const LABELS = { labelsAllowlist: { pods: ["team"] } };
const UID = "00000000-0000-4000-8000-000000000001";

interface PodParts {
  readonly name?: string;
  readonly uid?: string;
  readonly created?: number;
  readonly scheduled?: number;
  readonly started?: number;
  readonly finished?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly resources?: Readonly<Record<string, string>>;
  readonly requestsOnly?: boolean;
  readonly deletion?: string;
  readonly reason?: string;
  readonly terminated?: string;
  readonly restarts?: number;
  readonly waiting?: string;
  readonly owner?: Readonly<Record<string, unknown>>;
  readonly initContainers?: readonly object[];
}

/** A pod with one GPU at the time of a scrape. Its times are numbers of scrapes. */
function podAt(index: number, parts: PodParts = {}): StateObject {
  const {
    created = 0,
    scheduled = 0.2,
    started = 1.5,
    finished = Infinity,
    resources = { "nvidia.com/gpu": "1" },
  } = parts;
  const isBound = index >= scheduled;
  const hasStarted = index >= started;
  const hasEnded = index >= finished;
  const startedAt = timeText(started);
  const end = { reason: parts.terminated ?? "Completed", startedAt, finishedAt: timeText(Math.min(finished, 1e6)) };
  const state = hasEnded
    ? { terminated: end }
    : hasStarted
      ? parts.waiting === undefined
        ? { running: { startedAt } }
        : { waiting: { reason: parts.waiting } }
      : { waiting: { reason: "ContainerCreating" } };
  const isFailed = parts.terminated !== undefined || parts.reason !== undefined;
  const ready = hasStarted && !hasEnded;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace: "ml",
      name: parts.name ?? "train-0",
      uid: parts.uid ?? UID,
      creationTimestamp: timeText(created),
      labels: parts.labels ?? { team: "nlp" },
      ...(parts.deletion === undefined ? {} : { deletionTimestamp: parts.deletion }),
      ...(parts.owner === undefined ? {} : { ownerReferences: [parts.owner] }),
    },
    spec: {
      ...(isBound ? { nodeName: "gpu-1" } : {}),
      schedulerName: "default-scheduler",
      priorityClassName: "batch",
      containers: [
        {
          name: "main",
          image: "trainer:latest",
          resources: {
            requests: { cpu: "500m", memory: "1Gi", ...resources },
            limits: parts.requestsOnly ? {} : resources,
          },
        },
      ],
      initContainers: parts.initContainers ?? [],
    },
    status: {
      phase: hasEnded ? (isFailed ? "Failed" : "Succeeded") : hasStarted ? "Running" : "Pending",
      ...(hasEnded && parts.reason !== undefined ? { reason: parts.reason } : {}),
      conditions: isBound
        ? [
            { type: "PodScheduled", status: "True", lastTransitionTime: timeText(scheduled) },
            { type: "Ready", status: ready ? "True" : "False", lastTransitionTime: timeText(Math.min(started, index)) },
          ]
        : [{ type: "PodScheduled", status: "False", reason: "Unschedulable", lastTransitionTime: timeText(created) }],
      ...(isBound ? { startTime: timeText(scheduled) } : {}),
      containerStatuses: isBound
        ? [{ name: "main", image: "trainer:latest", restartCount: parts.restarts ?? 0, state, lastState: {} }]
        : [],
      initContainerStatuses: (parts.initContainers ?? []).map((each) => ({ ...each, restartCount: 0, state: {} })),
    },
  };
}

const between = (from: number, until: number) => (index: number) => index >= from && index < until;

describe("a pod of kube-state-metrics", () => {
  it("has a fact at its creation, binding, start and end, and when it is gone", async () => {
    const { pods, remarks } = await importScrapes(
      20,
      (index) =>
        between(1, 13)(index) ? [podAt(index, { created: 0.4, scheduled: 2.5, started: 3.2, finished: 9.6 })] : [],
      LABELS,
    );
    expect(pods.map(({ seenAtMillis }) => seenAtMillis)).toEqual([0.4, 2.5, 3.2, 9.6, 12].map(scrapeTime));
    expect(pods.map(({ phase, node }) => `${phase} ${node}`)).toEqual([
      "Pending ",
      "Pending gpu-1",
      "Running gpu-1",
      "Succeeded gpu-1",
      "Succeeded gpu-1",
    ]);
    const [created, scheduled, started, finished] = [0.4, 2.5, 3.2, 9.6].map(scrapeTime);
    expect(pods.at(-1)).toMatchObject({
      epoch: 1,
      uid: UID,
      resourceVersion: String(scrapeTime(12)),
      times: { created, scheduled, started, finished },
      endReason: "completed",
      end: { atMillis: scrapeTime(12), inferred: true },
      asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 1 }],
      compute: { cpuRequestMillicores: 500, memoryRequestBytes: 1024 ** 3 },
      labels: { team: "nlp" },
      annotations: { [IMPORTED_MARK]: "Prometheus" },
      unpinnedImages: ["trainer:latest"],
      priorityClass: "batch",
    });
    expect(remarks).toEqual([]);
  });

  it("has not ended if it still runs at the end of the import", async () => {
    const { pods } = await importScrapes(10, (index) => [podAt(index)], LABELS);
    expect(pods.at(-1)).toMatchObject({ phase: "Running" });
    expect(pods.at(-1)).not.toHaveProperty("end");
  });

  it("waits unscheduled for its node", async () => {
    const { pods } = await importScrapes(5, (index) => [podAt(index, { scheduled: 100, started: 101 })], LABELS);
    expect(pods).toHaveLength(1);
    expect(pods[0]).toMatchObject({ phase: "Pending", node: "", pending: { reason: "Unschedulable" } });
    expect(pods[0]!.times).toEqual({ created: scrapeTime(0) });
  });

  it("ends at its last sample if it was deleted while it ran", async () => {
    const deletion = timeText(7.5);
    const { pods } = await importScrapes(
      12,
      (index) => (index < 8 ? [podAt(index, index >= 7 ? { deletion } : {})] : []),
      LABELS,
    );
    expect(pods.at(-1)).toMatchObject({
      phase: "Running",
      endReason: "unknown",
      end: { atMillis: scrapeTime(7), inferred: true },
      times: { deletion: scrapeTime(6.5) },
    });
  });

  it("survives an outage of kube-state-metrics, and ends before it if it is missing after it", async () => {
    const outage = between(5, 15);
    const [stays, goes] = ["train-0", "train-1"];
    const { pods } = await importScrapes(
      25,
      (index) => {
        if (outage(index)) return undefined;
        const running = [podAt(index, { name: stays })];
        return index < 5 ? [...running, podAt(index, { name: goes, uid: "goes" })] : running;
      },
      LABELS,
    );
    const ofName = (wanted: string) => pods.filter(({ name }) => name === wanted);
    expect(ofName(stays!).every(({ end }) => end === undefined)).toBe(true);
    expect(ofName(stays!).at(-1)!.seenAtMillis).toBeLessThan(scrapeTime(5));
    expect(ofName(goes!).at(-1)!.end).toEqual({ atMillis: scrapeTime(4), inferred: true });
  });

  it("starts and finishes at its own times during an outage of kube-state-metrics", async () => {
    const { pods } = await importScrapes(
      40,
      (index) =>
        between(3, 20)(index) || between(22, 35)(index) ? undefined : [podAt(index, { started: 7.5, finished: 30.5 })],
      LABELS,
    );
    expect(pods.map(({ phase, seenAtMillis }) => [phase, seenAtMillis])).toEqual([
      ["Pending", scrapeTime(0)],
      ["Pending", scrapeTime(0.2)],
      ["Running", scrapeTime(7.5)],
      ["Succeeded", scrapeTime(30.5)],
    ]);
  });

  it("has a label from the first sample with it on", async () => {
    const { pods } = await importScrapes(
      10,
      (index) => [podAt(index, { labels: { team: index < 6 ? "nlp" : "vision" } })],
      LABELS,
    );
    expect(pods.find(({ labels }) => labels["team"] === "vision")!.seenAtMillis).toBe(scrapeTime(6));
    expect(pods.map(({ labels }) => labels["team"]).slice(-2)).toEqual(["nlp", "vision"]);
  });

  it("is out of memory, evicted or restarted as its series have it", async () => {
    const last = async (parts: PodParts) =>
      (await importScrapes(8, (index) => [podAt(index, { finished: 5, ...parts })], LABELS)).pods.at(-1)!;
    expect(await last({ terminated: "OOMKilled" })).toMatchObject({ phase: "Failed", endReason: "out-of-memory" });
    expect(await last({ reason: "Evicted" })).toMatchObject({ endReason: "evicted" });
    expect(await last({ terminated: "Error" })).toMatchObject({ endReason: "failed" });
    const looping = await last({ finished: 100, restarts: 3, waiting: "CrashLoopBackOff" });
    expect(looping).toMatchObject({ restarts: 3, pending: { reason: "CrashLoopBackOff", message: "" } });
  });

  it("reserves what its init containers and sidecars need", async () => {
    const resources = { requests: { "nvidia.com/gpu": "1" }, limits: { "nvidia.com/gpu": "1" } };
    const initContainers = [
      { name: "check", resources: { requests: { "nvidia.com/gpu": "4" }, limits: { "nvidia.com/gpu": "4" } } },
      { name: "side", restartPolicy: "Always", resources },
    ];
    const { pods } = await importScrapes(5, (index) => [podAt(index, { initContainers })], LABELS);
    expect(pods.at(-1)!.asks).toEqual([{ kind: "gpu", resource: "nvidia.com/gpu", count: 5 }]);
  });

  it("requests MIG instances and shares by their names in Kubernetes", async () => {
    const asksOf = async (resources: Readonly<Record<string, string>>) =>
      (await importScrapes(4, (index) => [podAt(index, { resources })], LABELS)).pods.at(-1)!.asks;
    expect(await asksOf({ "nvidia.com/mig-1g.10gb.me": "2" })).toEqual([
      { kind: "mig", resource: "nvidia.com/mig-1g.10gb.me", profile: "1g.10gb+me", count: 2 },
    ]);
    const share = { kind: "vgpu", scheduler: "hami", count: 1, memoryMiB: 4096 };
    expect(await asksOf({ "nvidia.com/gpu": "1", "nvidia.com/gpumem": "4096" })).toEqual([share]);
    expect(await asksOf({ "nvidia.com/gpu": "1", "nvidia.com/gpumem": "4Gi" })).toEqual([share]);
  });

  it("is ready since the time in the series, and only while it is ready", async () => {
    const { pods } = await importScrapes(12, (index) => [podAt(index, { finished: 8.5 })], LABELS);
    const readyOf = (phase: string) => pods.findLast((fact) => fact.phase === phase)!.times.ready;
    expect([readyOf("Pending"), readyOf("Running"), readyOf("Succeeded")]).toEqual([
      undefined,
      scrapeTime(1.5),
      undefined,
    ]);
    const old = await importScrapes(12, (index) => [podAt(index, { finished: 8.5 })], { version: 1 });
    expect(old.pods.findLast(({ phase }) => phase === "Running")!.times.ready).toBe(scrapeTime(2));
  });

  it("is ignored without a GPU", async () => {
    const { pods } = await importScrapes(4, (index) => [podAt(index, { resources: {} })], LABELS);
    expect(pods).toEqual([]);
  });

  it("has no fact before the beginning of the import", async () => {
    const fromMillis = scrapeTime(6);
    const { pods } = await importScrapes(12, (index) => (index < 6 ? [] : [podAt(index)]), { ...LABELS, fromMillis });
    expect(pods.map(({ seenAtMillis }) => seenAtMillis)).toEqual([fromMillis]);
    expect(pods[0]!.times).toMatchObject({ created: scrapeTime(0), started: scrapeTime(1.5) });
  });
});

describe("a pod of an older kube-state-metrics", () => {
  it("of version 1 has a UID in kube_pod_info alone, and all labels", async () => {
    const second = "00000000-0000-4000-8000-000000000002";
    const { pods } = await importScrapes(
      20,
      (index) => {
        if (index < 8) return [podAt(index)];
        const next = { uid: second, created: 9.2, scheduled: 9.4, started: 10.5, labels: { team: "vision" } };
        return index < 10 ? [] : [podAt(index, next)];
      },
      { version: 1 },
    );
    const [first, last] = [UID, second].map((uid) => pods.findLast((fact) => fact.uid === uid)!);
    expect(first).toMatchObject({ labels: { team: "nlp" }, end: { atMillis: scrapeTime(7), inferred: true } });
    expect(last).toMatchObject({
      phase: "Running",
      labels: { team: "vision" },
      times: { created: scrapeTime(9.2), scheduled: scrapeTime(9.4), started: scrapeTime(11) },
      workload: { kind: "Pod", name: "train-0" },
    });
    expect(first!.times.created).toBe(scrapeTime(0));
  });

  it("without a UID gets a stable one from its creation", async () => {
    const { pods, remarks } = await importScrapes(
      20,
      (index) => [podAt(index, index < 10 ? { uid: "" } : { uid: "", created: 9.5, scheduled: 9.6, started: 9.7 })],
      LABELS,
    );
    const uids = [...new Set(pods.map(({ uid }) => uid))];
    expect(uids).toEqual([0, 9.5].map((created) => `imported/ml/train-0/${scrapeTime(created)}`));
    expect(pods.findLast(({ uid }) => uid === uids[0])!.end).toEqual({ atMillis: scrapeTime(9), inferred: true });
    expect(pods.at(-1)!.annotations[IMPORTED_MARK]).toBe("Prometheus, without uid");
    expect(remarks).toEqual([
      { text: expect.stringContaining("no UID") as unknown, count: 2, example: "Pod ml/train-0" },
    ]);
  });

  it("without an allowlist has no labels, and the remark has the setting that exports them", async () => {
    const { pods, remarks } = await importScrapes(6, (index) => [podAt(index)], {
      knownLabels: ["team", "cost-center"],
    });
    expect(pods.at(-1)).toMatchObject({ labels: {}, annotations: { [IMPORTED_MARK]: "Prometheus, without labels" } });
    expect(remarks.map(({ text }) => text)).toEqual([
      expect.stringContaining("--metric-labels-allowlist=pods=[team,cost-center]"),
    ]);
  });

  it("behind a Prometheus that renames labels is the same pod", async () => {
    const target = { namespace: "monitoring", pod: "ksm-0", container: "ksm", node: "control-1", uid: "x", job: "ksm" };
    const objectsAt = (index: number) => [
      podAt(index, { scheduled: 3.5, started: 4.5 }),
      podAt(index, { name: "b", uid: "b" }),
    ];
    const [plain, renamed] = await Promise.all([
      importScrapes(10, objectsAt, LABELS),
      importScrapes(10, objectsAt, { ...LABELS, targetAt: () => target }),
    ]);
    expect(renamed).toEqual(plain);
    expect(plain.pods.find(({ name }) => name === "train-0")!.node).toBe("");
  });

  it("is the same pod if kube-state-metrics moves to another instance, or has two of them", async () => {
    const objectsAt = (index: number) => [podAt(index, { finished: 7.5 })];
    const once = await importScrapes(10, objectsAt, LABELS);
    const targetAt = (index: number) => ({ instance: index < 4 ? "10.0.0.1:8080" : "10.0.0.2:8080" });
    expect((await importScrapes(10, objectsAt, { ...LABELS, targetAt })).pods).toEqual(once.pods);
    const [first, second] = ["a", "b"].map((instance) =>
      scrapesOf(10, objectsAt, { ...LABELS, targetAt: () => ({ instance }) }),
    );
    const both = await importSeries([...first!.series(), ...second!.series()], first!.seen());
    expect(both.pods).toEqual(once.pods);
  });
});

describe("the owners of a pod", () => {
  const replicaSet = (owner?: string): StateObject => ({
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      namespace: "ml",
      name: "chat-7d9fbc9c5d",
      ...(owner === undefined ? {} : { ownerReferences: [{ kind: "Deployment", name: owner, controller: true }] }),
    },
  });
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "chat-7d9fbc9c5d", uid: "r", controller: true };

  it("are followed to the Deployment, by series or else by the name", async () => {
    const bySeries = await importScrapes(5, (index) => [replicaSet("chat-v2"), podAt(index, { owner })], LABELS);
    expect(bySeries.pods.at(-1)).toMatchObject({
      workload: { kind: "Deployment", name: "chat-v2" },
      type: "inference",
    });
    expect(bySeries.remarks).toEqual([]);
    const byName = await importScrapes(5, (index) => [podAt(index, { owner })], LABELS);
    expect(byName.pods.at(-1)).toMatchObject({ workload: { kind: "Deployment", name: "chat" } });
    expect(byName.pods.at(-1)!.owners).toEqual([
      { apiVersion: "apps/v1", kind: "ReplicaSet", name: owner.name, uid: `imported/ReplicaSet/ml/${owner.name}` },
      { apiVersion: "apps/v1", kind: "Deployment", name: "chat", uid: "imported/Deployment/ml/chat" },
    ]);
    expect(byName.remarks).toEqual([
      { text: expect.stringContaining("guessed") as unknown, count: 1, example: `ReplicaSet ml/${owner.name}` },
    ]);
  });

  it("that are Jobs of Volcano differ from Kubernetes' own by their missing series", async () => {
    const job: StateObject = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { namespace: "ml", name: "native", labels: { "kueue.x-k8s.io/queue-name": "gpu" } },
      spec: { activeDeadlineSeconds: 3600 },
    };
    const ownedBy = (name: string) => ({ kind: "Job", name, controller: true });
    const { pods } = await importScrapes(
      5,
      (index) => [
        job,
        podAt(index, { owner: ownedBy("native") }),
        podAt(index, { name: "b", uid: "b", owner: ownedBy("volcano") }),
      ],
      { labelsAllowlist: { pods: ["team"], jobs: ["*"] } },
    );
    const of = (name: string) => pods.findLast((fact) => fact.name === name)!;
    expect(of("train-0")).toMatchObject({ owners: [{ apiVersion: "batch/v1" }], queue: "gpu", deadlineSeconds: 3600 });
    expect(of("b").owners[0]!.apiVersion).toBe("batch.volcano.sh/unknown");
  });
});
