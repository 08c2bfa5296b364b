import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { KubernetesObject } from "../../demo/kubernetes/server/object.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { compareFacts } from "../../domain/fact.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import { systemClock, type Clock } from "../../runtime/clock.ts";
import { openTestBus } from "../support/pipeline.ts";
import { followFacts, startTestWatcher, type SentFacts, type TestWatcher } from "../support/watcher.ts";
import { HOUR_MILLIS as HOUR, MINUTE_MILLIS } from "../../domain/time.ts";

const LONG = { timeout: 90_000, interval: 10 };

let server: ApiServer;
let bus: Bus;
let sent: SentFacts;
let closeBus: () => Promise<void>;
/** The shift of all clocks, and that of the collector's clock alone. */
let passedMillis = 0;
let collectorAheadMillis = 0;
const watchers: TestWatcher[] = [];

const clock: Clock = {
  nowMillis: () => systemClock.nowMillis() + passedMillis + collectorAheadMillis,
  monotonicMillis: () => systemClock.monotonicMillis() + passedMillis,
};

beforeEach(async () => {
  passedMillis = 0;
  collectorAheadMillis = 0;
  server = await startApiServer({ bookmarkMillis: 50, now: () => Date.now() + passedMillis });
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
  const watcher = startTestWatcher(server, bus, { clock, ...given });
  watchers.push(watcher);
  return watcher;
}

function gpuPod(name: string, phase = "Running"): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "ml", uid: `uid-${name}`, creationTimestamp: "2026-05-01T12:00:00Z" },
    spec: { nodeName: "gpu-a", containers: [{ name: "main", resources: { limits: { "nvidia.com/gpu": "1" } } }] },
    status: { phase },
  } as KubernetesObject;
}

describe("an API server that is gone for an hour", () => {
  it("ends removed objects at the time when they were last seen, and sends only changed objects again", async () => {
    for (const name of ["stays", "goes", "ends"]) server.put(gpuPod(name));
    const { watcher } = watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(3), LONG);
    const lostAt = Date.now();
    await server.goAway();
    await vi.waitFor(() => expect(watcher.state().watching).toBe(false), LONG);
    server.delete(gpuPod("goes"));
    server.put(gpuPod("ends", "Succeeded"));
    server.put(gpuPod("comes"));
    passedMillis = HOUR;
    await server.comeBack();
    await vi.waitFor(() => expect(sent.ofPod("comes")).toHaveLength(1), LONG);
    await vi.waitFor(() => expect(sent.ofPod("goes").at(-1)?.end).toBeDefined(), LONG);
    const { end } = sent.ofPod("goes").at(-1)!;
    expect(end!.inferred).toBe(true);
    expect(Math.abs(end!.atMillis - lostAt)).toBeLessThan(MINUTE_MILLIS);
    expect(sent.ofPod("ends").at(-1)).toMatchObject({ phase: "Succeeded" });
    expect(sent.ofPod("comes")[0]!.seenAtMillis).toBeGreaterThanOrEqual(lostAt + HOUR);
    expect(sent.ofPod("stays")).toHaveLength(1);
    await vi.waitFor(() => expect(watcher.state().failure).toBeUndefined(), LONG);
  });
});

describe("forbidden requests", () => {
  it("one kind is missing and reported with its verb and its effect, the others continue, and it comes when it is allowed", async () => {
    server.access.withdraw("", "nodes");
    server.put(gpuPod("train-0"));
    const { watcher, log } = watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    expect(watcher.state().missing).toEqual([
      { verb: "list", resource: "nodes", without: expect.stringContaining("no type, zone, pool or price") as string },
    ]);
    expect(log.forbidden).toHaveLength(1);
    server.put({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "gpu-a", uid: "node-1", labels: { "nvidia.com/gpu.count": "8" } },
      status: { capacity: { "nvidia.com/gpu": "8" } },
    } as KubernetesObject);
    server.access.restore();
    await vi.waitFor(() => expect(sent.inventory).toHaveLength(1), LONG);
    expect(watcher.state().missing).toEqual([]);
    expect(log.allowed).toHaveLength(1);
  });

  it("an owner that may not be read ends the chain and is reported once", async () => {
    server.access.withdraw("batch", "jobs", "get");
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "job-1", controller: true };
    for (const name of ["train-0", "train-1"]) {
      const pod = gpuPod(name);
      server.put({ ...pod, metadata: { ...pod.metadata, ownerReferences: [{ ...owner, uid: `job-${name}` }] } });
    }
    const { log } = watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    expect(sent.workloads[0]).toMatchObject({ ownersTruncated: true, workload: { kind: "Job", name: "train" } });
    expect(log.forbidden.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(["get jobs.batch"]);
  });

  it("without the lease nothing is watched, and the state has the reason", async () => {
    server.access.withdraw("coordination.k8s.io", "leases", "create");
    server.put(gpuPod("train-0"));
    const { watcher } = watch();
    await vi.waitFor(() => expect(watcher.state().failure).toContain("leases"), LONG);
    expect(watcher.state().watching).toBe(false);
    expect(sent.workloads).toEqual([]);
  });

  it("a token that is no longer accepted is read again, in the election and in the watches", async () => {
    let token = "old";
    server.access.setTokens(["old"]);
    server.put(gpuPod("train-0"));
    // A busy machine renews late, and only the token may end a term here.
    const election = { durationMillis: 60_000, giveUpMillis: 50_000, renewMillis: 40 };
    const { log } = watch({ token: () => token, election });
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    server.access.setTokens(["new"]);
    token = "new";
    server.endWatches();
    server.put(gpuPod("train-1"));
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    expect(log.epochs).toHaveLength(1);
  });
});

describe("a server that refuses every request for minutes", () => {
  it.each([
    ["because the token has ended and nobody renews it", "Unauthorized", () => server.access.setTokens(["another"])],
    ["because it has too many", "Too many requests", () => server.troubles.fail({ status: 429 }, Infinity)],
  ])("%s, ends nothing, is reported, and its objects are right afterwards", async (_, reason, refuse) => {
    server.access.setTokens(["own"]);
    for (const name of ["stays", "goes"]) server.put(gpuPod(name));
    const { watcher, log } = watch({ token: () => "own" });
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    refuse();
    server.endWatches();
    await vi.waitFor(() => expect(watcher.state().failure).toContain(reason), LONG);
    passedMillis += 5 * MINUTE_MILLIS;
    server.put(gpuPod("comes"));
    server.delete(gpuPod("goes"));
    await vi.waitFor(() => expect(watcher.state().watching).toBe(false), LONG);
    expect(sent.workloads.filter(({ end }) => end !== undefined)).toEqual([]);
    server.troubles.clear();
    server.access.setTokens(["own"]);
    await vi.waitFor(() => expect(watcher.state()).toMatchObject({ watching: true, failure: undefined }), LONG);
    const newest = (uid: string) =>
      sent.workloads
        .filter((fact) => fact.uid === uid)
        .toSorted(compareFacts)
        .at(-1);
    await vi.waitFor(
      () => expect([newest("uid-goes")?.end, newest("uid-comes")?.uid]).toEqual([expect.anything(), "uid-comes"]),
      LONG,
    );
    expect(newest("uid-stays")!.end).toBeUndefined();
    expect([log.removed, log.forbidden]).toEqual([[], []]);
  });
});

describe("streams and lists that break", () => {
  it.each([
    ["are cut in the middle of a line", () => server.cutWatches(20)],
    ["hold garbage", () => server.spoilWatches("}{ nothing\n")],
    ["stay silent", () => server.silenceWatches()],
    ["have expired", () => server.expireWatches()],
  ])("watches that %s lose nothing: every pod and every end becomes a fact", async (_, spoil) => {
    for (let i = 0; i < 12; i++) server.put(gpuPod(`pod-${i}`));
    watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(12), LONG);
    spoil();
    for (let i = 0; i < 6; i++) server.delete(gpuPod(`pod-${i}`));
    for (let i = 6; i < 12; i++) server.put(gpuPod(`pod-${i}`, "Failed"));
    for (let i = 12; i < 18; i++) server.put(gpuPod(`pod-${i}`));
    const now = (): string[] =>
      Array.from({ length: 18 }, (__, i) => sent.ofPod(`pod-${i}`).toSorted(compareFacts).at(-1)).map((fact) =>
        fact === undefined ? "unsaid" : fact.end !== undefined ? "ended" : fact.phase,
      );
    const wanted = [
      ...Array<string>(6).fill("ended"),
      ...Array<string>(6).fill("Failed"),
      ...Array<string>(6).fill("Running"),
    ];
    await vi.waitFor(() => expect(now()).toEqual(wanted), LONG);
  });

  it("a list whose continue token expires, behind a server that asks for a pause, is sent completely", async () => {
    server.troubles.refuseStreamingLists(400);
    server.troubles.fail({ status: 429, retryAfterSeconds: 1 }, 1, ({ path }) => path === "/api/v1/pods");
    server.troubles.expireContinueTokens(1);
    for (let i = 0; i < 23; i++) server.put(gpuPod(`pod-${i}`));
    watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(23), LONG);
    expect(new Set(sent.workloads.map(({ uid }) => uid)).size).toBe(23);
  });
});

describe("clocks", () => {
  it("that differ by minutes: the server's times count, and the difference is measured", async () => {
    collectorAheadMillis = -7 * 60_000;
    server.put(gpuPod("train-0"));
    const { watcher } = watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    expect(Math.abs(watcher.state().clockSkewMillis - 7 * 60_000)).toBeLessThan(MINUTE_MILLIS);
    expect(Math.abs(sent.workloads[0]!.seenAtMillis - Date.now())).toBeLessThan(MINUTE_MILLIS);
    server.delete(gpuPod("train-0"));
    await vi.waitFor(() => expect(sent.workloads.at(-1)?.end).toBeDefined(), LONG);
    expect(Math.abs(sent.workloads.at(-1)!.end!.atMillis - Date.now())).toBeLessThan(MINUTE_MILLIS);
  });

  it("if they go back, the facts of a new watcher are still newer than all earlier ones", async () => {
    server.put(gpuPod("train-0"));
    const first = watch();
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    await first.stop();
    // The lease was lost with a backup that is older than it, and the clock is a day earlier.
    server.store.delete("coordination.k8s.io/leases", "gpu-ledger/watcher");
    passedMillis = -24 * HOUR;
    server.put(gpuPod("train-0", "Succeeded"));
    watch({ identity: "second" });
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    expect(compareFacts(sent.workloads[1]!, sent.workloads[0]!)).toBeGreaterThan(0);
  });
});

describe("a former watcher that still sends facts", () => {
  it("is older than its successor, for any facts and any time of their arrival", async () => {
    server.put(gpuPod("train-0"));
    let open = (): void => {};
    let isHeld = false;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const first = watch({ identity: "first", gate: () => (isHeld ? opened : Promise.resolve()) });
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(1), LONG);
    isHeld = true;
    server.put(gpuPod("train-0", "Failed"));
    await new Promise((resolve) => setTimeout(resolve, 200));
    first.setCutOff(true);
    server.put(gpuPod("train-0"));
    watch({ identity: "second" });
    await vi.waitFor(() => expect(sent.workloads).toHaveLength(2), LONG);
    open();
    // It arrives after the facts that it precedes.
    await vi.waitFor(() => expect(sent.workloads.map(({ phase }) => phase).indexOf("Failed")).toBe(2), LONG);
    expect(sent.workloads[2]!.epoch).toBeLessThan(sent.workloads[1]!.epoch);
    const newest = sent.workloads.toSorted(compareFacts).at(-1)!;
    expect(newest.phase).toBe("Running");
  });
});
