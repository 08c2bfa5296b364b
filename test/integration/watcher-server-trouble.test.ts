import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { KubernetesObject } from "../../demo/kubernetes/server/object.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { compareFacts, type FactEnd, type FactOrigin } from "../../domain/fact.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import { openTestBus } from "../support/pipeline.ts";
import { FAST, followFacts, startTestWatcher, type SentFacts, type TestWatcher } from "../support/watcher.ts";

const LONG = { timeout: 90_000, interval: 10 };

let server: ApiServer;
let bus: Bus;
let sent: SentFacts;
let closeBus: () => Promise<void>;
const watchers: TestWatcher[] = [];

beforeEach(async () => {
  server = await startApiServer({ bookmarkMillis: 50 });
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

function gpuPod(name: string, given: { readonly phase?: string; readonly gang?: string } = {}): KubernetesObject {
  const annotations = given.gang === undefined ? {} : { "scheduling.k8s.io/group-name": given.gang };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "ml", uid: `uid-${name}`, creationTimestamp: "2026-05-01T12:00:00Z", annotations },
    spec: { nodeName: "gpu-a", containers: [{ name: "main", resources: { limits: { "nvidia.com/gpu": "1" } } }] },
    status: { phase: given.phase ?? "Running" },
  } as KubernetesObject;
}

const VOLCANO = "scheduling.volcano.sh";
function podGroup(name: string, size: number, version = "v1beta1"): KubernetesObject {
  return {
    apiVersion: `${VOLCANO}/${version}`,
    kind: "PodGroup",
    metadata: { name, namespace: "ml", uid: `uid-of-${name}` },
    spec: { minMember: size, queue: "research" },
    status: { phase: "Running" },
  } as KubernetesObject;
}

type AnyFact = FactOrigin & { readonly uid: string; readonly end?: FactEnd };

/** The newest fact of an object by the order of facts, for any order of arrival. */
function newest<Fact extends AnyFact>(facts: readonly Fact[], uid: string): Fact | undefined {
  return facts
    .filter((fact) => fact.uid === uid)
    .toSorted(compareFacts)
    .at(-1);
}

const holds = (facts: readonly AnyFact[], uid: string): boolean => {
  const fact = newest(facts, uid);
  return fact !== undefined && fact.end === undefined;
};

/** Waits for several checks of the served kinds. */
const looks = (count: number): Promise<void> => delay(count * FAST.term.lookMillis);

describe("a server that starts again", () => {
  it("and forbids everything for a moment leaves no missing kind, and no pod is ended or overlooked", async () => {
    server.put(gpuPod("stays"));
    server.put(podGroup("gang", 2));
    const { watcher, log } = watch();
    await vi.waitFor(() => expect([holds(sent.workloads, "uid-stays"), sent.cluster.length]).toEqual([true, 1]), LONG);
    await server.goAway();
    server.troubles.startUp(65, FAST.term.lookMillis * 0.8);
    server.put(gpuPod("new"));
    await server.comeBack();
    await vi.waitFor(() => expect(holds(sent.workloads, "uid-new")).toBe(true), LONG);
    await looks(4);
    expect(log.forbidden).toEqual([]);
    expect(log.removed).toEqual([]);
    expect(watcher.state().missing).toEqual([]);
    expect(sent.workloads.concat().filter(({ end }) => end !== undefined)).toEqual([]);
    expect(sent.cluster.filter(({ end }) => end !== undefined)).toEqual([]);
    await vi.waitFor(() => expect(watcher.state().failure).toBeUndefined(), LONG);
  });

  it("and keeps forbidding has missing kinds, which are cleared when they are allowed, and when the kind is removed", async () => {
    server.put(podGroup("gang", 2));
    server.access.withdraw(VOLCANO, "podgroups", "list", "watch");
    server.access.withdraw("", "resourcequotas", "list", "watch");
    const { watcher } = watch();
    const missing = (): readonly string[] =>
      watcher
        .state()
        .missing.map(({ resource }) => resource)
        .toSorted();
    await vi.waitFor(() => expect(missing()).toEqual([`podgroups.${VOLCANO}`, "resourcequotas"]), LONG);
    server.remove(VOLCANO);
    await vi.waitFor(() => expect(missing()).toEqual(["resourcequotas"]), LONG);
    server.access.restore();
    await vi.waitFor(() => expect(missing()).toEqual([]), LONG);
  });

  it.each([
    ["older versions", false],
    ["newer versions of another past", true],
  ])("from a backup, with %s, is followed, and its objects are valid", async (_, hasCaughtUp) => {
    server.put(gpuPod("changes", { phase: "Running" }));
    server.put(gpuPod("comes-back"));
    const before = server.store.resourceVersion;
    watch();
    await vi.waitFor(() => expect(holds(sent.workloads, "uid-comes-back")).toBe(true), LONG);
    for (let n = 0; n < 20; n++) server.put(gpuPod("changes", { phase: n % 2 === 0 ? "Pending" : "Failed" }));
    server.delete(gpuPod("comes-back"));
    server.put(gpuPod("never-was"));
    await vi.waitFor(() => expect(holds(sent.workloads, "uid-never-was")).toBe(true), LONG);
    await vi.waitFor(() => expect(holds(sent.workloads, "uid-comes-back")).toBe(false), LONG);
    await server.goAway();
    server.restore(before);
    // Leases are written repeatedly: the server can be past the seen version when it is asked.
    if (hasCaughtUp) for (let n = 0; n < 200; n++) server.put(gpuPod("noise"));
    await delay(500);
    await server.comeBack();
    await vi.waitFor(() => {
      expect(newest(sent.workloads, "uid-changes")?.phase).toBe("Running");
      expect(holds(sent.workloads, "uid-comes-back")).toBe(true);
      expect(holds(sent.workloads, "uid-never-was")).toBe(false);
    }, LONG);
    server.put(gpuPod("after"));
    await vi.waitFor(() => expect(holds(sent.workloads, "uid-after")).toBe(true), LONG);
  });
});

describe("a server", () => {
  it("that refuses streaming lists within the stream gets requests for pages, and no other stream requests", async () => {
    server.troubles.refuseStreamingLists("event");
    for (let n = 0; n < 12; n++) server.put(gpuPod(`pod-${n}`));
    watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(12), LONG);
    const streams = (): number =>
      server.requests.all.filter(({ path, query }) => path === "/api/v1/pods" && "sendInitialEvents" in query).length;
    expect(streams()).toBe(1);
    server.expireWatches("pods");
    server.put(gpuPod("later"));
    await vi.waitFor(() => expect(holds(sent.workloads, "uid-later")).toBe(true), LONG);
    expect(streams()).toBe(1);
  });

  it("that serves a kind in another version is followed in that version, and nothing has ended", async () => {
    server.put(podGroup("gang", 2));
    watch();
    await vi.waitFor(() => expect(holds(sent.cluster, "uid-of-gang")).toBe(true), LONG);
    server.serveAs(VOLCANO, "v1");
    server.put(podGroup("later", 3, "v1"));
    await vi.waitFor(() => expect(holds(sent.cluster, "uid-of-later")).toBe(true), LONG);
    await looks(3);
    expect(sent.cluster.filter(({ end }) => end !== undefined)).toEqual([]);
  });

  it("that lacks the groups of custom resources for a moment has ended nothing", async () => {
    server.put(podGroup("gang", 2));
    const { log } = watch();
    await vi.waitFor(() => expect(holds(sent.cluster, "uid-of-gang")).toBe(true), LONG);
    server.troubles.startUp(0, FAST.term.lookMillis * 0.8);
    await looks(5);
    expect(log.removed).toEqual([]);
    expect(sent.cluster.filter(({ end }) => end !== undefined)).toEqual([]);
  });

  it("that lacks a kind for longer has ended its objects; they count again when they are back in the same version", async () => {
    server.put(podGroup("gang", 2));
    watch();
    await vi.waitFor(() => expect(holds(sent.cluster, "uid-of-gang")).toBe(true), LONG);
    const removed = server.catalog.remove(VOLCANO);
    await vi.waitFor(() => expect(newest(sent.cluster, "uid-of-gang")?.end).toBeDefined(), LONG);
    server.install(removed);
    await vi.waitFor(() => expect(holds(sent.cluster, "uid-of-gang")).toBe(true), LONG);
  });

  it("that lost a kind while no watcher ran has ended its objects when the next watcher runs", async () => {
    server.put(podGroup("gang", 2));
    const first = watch();
    await vi.waitFor(() => expect(holds(sent.cluster, "uid-of-gang")).toBe(true), LONG);
    await first.stop();
    server.remove(VOLCANO);
    watch({ identity: "second" });
    await vi.waitFor(() => expect(newest(sent.cluster, "uid-of-gang")?.end).toMatchObject({ inferred: true }), LONG);
  });

  it("that has no bookmarks of a quiet kind is not a failure", async () => {
    server.put(gpuPod("train-0"));
    const { watcher, log } = watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    // The watch of Events is silent for longer than its limit more than once.
    await delay(3 * FAST.term.reflector.silenceMillis);
    expect(log.errors).toEqual([]);
    expect(watcher.state().failure).toBeUndefined();
    await vi.waitFor(() => expect(watcher.state().silentMillis).toBeLessThan(FAST.term.reflector.silenceMillis), LONG);
  });
});

it("a watch that is opened again clears its failure, and a watcher that was replaced has none", async () => {
  server.put(gpuPod("train-0"));
  const first = watch({ identity: "first" });
  await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
  await server.goAway();
  await vi.waitFor(() => expect(first.watcher.state().failure).toBeDefined(), LONG);
  await server.comeBack();
  await vi.waitFor(() => expect(first.watcher.state().failure).toBeUndefined(), LONG);
  first.setCutOff(true);
  await vi.waitFor(() => expect(first.watcher.state().watching).toBe(false), LONG);
  watch({ identity: "second" });
  first.setCutOff(false);
  await vi.waitFor(() => expect(first.watcher.state()).toMatchObject({ watching: false, failure: undefined }), LONG);
});

it("a gang that becomes known after its pods gives them its size and queue", async () => {
  server.put(gpuPod("train-0", { gang: "gang" }));
  server.put(gpuPod("other", { gang: "another" }));
  watch();
  await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
  expect(newest(sent.workloads, "uid-train-0")?.gang).toEqual({ kind: "PodGroup", name: "gang", size: 0 });
  server.put(podGroup("gang", 4));
  await vi.waitFor(
    () =>
      expect(newest(sent.workloads, "uid-train-0")).toMatchObject({
        gang: { kind: "PodGroup", name: "gang", size: 4 },
        queue: "research",
      }),
    LONG,
  );
  expect(newest(sent.workloads, "uid-other")?.gang?.size).toBe(0);
});
