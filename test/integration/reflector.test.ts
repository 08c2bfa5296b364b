import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ApiError } from "../../collectors/kubernetes/api/api-error.ts";
import { createApiConnection, type ApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import {
  startReflector,
  type ObjectIdentity,
  type Reflector,
} from "../../collectors/kubernetes/reflector/reflector.ts";
import type { ReflectorTiming } from "../../collectors/kubernetes/reflector/timing.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { systemClock } from "../../runtime/clock.ts";

const PODS = { group: "", version: "v1", plural: "pods", kind: "Pod" };
const TIMING: ReflectorTiming = {
  pageSize: 3,
  silenceMillis: 400,
  watchSeconds: 60,
  absentMillis: 150,
  doubtMillis: 0,
};

let server: ApiServer;
let api: ApiConnection;
let token = "first";
const reflectors: Reflector[] = [];

beforeEach(async () => {
  server = await startApiServer({ bookmarkMillis: 100, keptEvents: 200 });
  token = "first";
  api = createApiConnection(
    () => Promise.resolve({ server: server.url, headers: { authorization: `Bearer ${token}` }, tls: {} }),
    systemClock,
  );
});
afterEach(async () => {
  await Promise.all(reflectors.splice(0).map((reflector) => reflector.stop()));
  api.close();
  await server.stop();
});

/** A reflector of pods, its events applied to a mirror of the server, and a record of the events. */
function reflect(given: { readonly timing?: ReflectorTiming; readonly labelSelector?: string } = {}) {
  const mirror = new Map<string, string>();
  const record = {
    gone: [] as (ObjectIdentity & { readonly inferred: boolean; readonly atMillis: number })[],
    seenAtMillis: [] as number[],
    ended: [] as string[],
    errors: [] as ApiError[],
    lists: 0,
    objects: 0,
    watchEvents: 0,
    taken: 0,
    back: 0,
  };
  const reflector = startReflector({
    api,
    resource: PODS,
    timing: TIMING,
    random: () => 0,
    ...given,
    sink: {
      onObject({ metadata }, { atMillis }) {
        record.objects += 1;
        record.seenAtMillis.push(atMillis);
        mirror.set(metadata.uid, `${metadata.name}@${metadata.resourceVersion}`);
      },
      onGone(identity, seen) {
        record.gone.push({ ...identity, ...seen });
        mirror.delete(identity.uid);
      },
      onListed: () => {},
    },
    events: {
      onListStarted: () => (record.lists += 1),
      onWatchEvent: () => (record.watchEvents += 1),
      onWatchTaken: () => (record.taken += 1),
      onVersionsBack: () => (record.back += 1),
      onWatchEnded: (why) => record.ended.push(why),
      onError: (error) => record.errors.push(error),
    },
  });
  reflectors.push(reflector);
  return { reflector, mirror, record };
}

/** Waits for the next event of the watch itself, at the latest its bookmark: for the server a list is a watch too, until it ends. */
async function watching(record: { readonly watchEvents: number }): Promise<void> {
  const before = record.watchEvents;
  await vi.waitFor(() => expect(record.watchEvents).toBeGreaterThan(before), 90_000);
}

const pods = new Map<string, string>();
beforeEach(() => pods.clear());

/** As on every server, a name gets another UID only after the object with the earlier UID was deleted. */
function put(name: string, uid = name): void {
  if ([...pods].some(([other, text]) => other !== uid && text.startsWith(`${name}@`))) remove(name);
  const metadata = { name, namespace: "ml", uid };
  const version = server.put({ apiVersion: "v1", kind: "Pod", metadata, spec: { note: "é" } });
  pods.set(uid, `${name}@${version}`);
}

/** Saves the server's current pods, so that they can be restored. */
function save(): { readonly restore: (on: (version: number) => void) => void } {
  const [version, copy] = [server.store.resourceVersion, [...pods]];
  return {
    restore(on) {
      on(version);
      pods.clear();
      for (const [uid, text] of copy) pods.set(uid, text);
    },
  };
}

function remove(name: string): void {
  if (server.delete({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "ml" } })) {
    for (const [uid, text] of pods) if (text.startsWith(`${name}@`)) pods.delete(uid);
  }
}

const same = (mirror: ReadonlyMap<string, string>): Promise<void> =>
  vi.waitFor(() => expect(mirror).toEqual(pods), {
    timeout: 30_000,
    interval: 20,
  });

const asked = (): Record<string, string>[] =>
  server.requests.all.filter(({ path }) => path === "/api/v1/pods").map(({ query }) => ({ ...query }));

describe("a reflector's list", () => {
  it("comes as a stream if the server supports it, with a watch from its version", async () => {
    for (let n = 0; n < 8; n++) put(`pod-${n}`);
    const { mirror, reflector } = reflect();
    await same(mirror);
    // The streaming list is a watch too, until the one from its version replaces it.
    await vi.waitFor(() => expect(asked()).toHaveLength(2), 90_000);
    expect(reflector.listed).toBe(true);
    expect(asked()).toMatchObject([
      { watch: "true", sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" },
      { watch: "true", allowWatchBookmarks: "true", resourceVersion: String(server.store.resourceVersion) },
    ]);
  });

  it("comes in pages from a server without streams, and again in one body, never older than the seen version", async () => {
    server.troubles.refuseStreamingLists(422);
    for (let n = 0; n < 8; n++) put(`pod-${n}`);
    const { mirror, record } = reflect();
    await same(mirror);
    const pages = asked().filter(({ limit }) => limit === "3");
    expect(pages.map((query) => [query["resourceVersion"], query["continue"] === undefined])).toEqual([
      [undefined, true],
      [undefined, false],
      [undefined, false],
    ]);
    await watching(record);
    const seen = server.store.resourceVersion;
    server.expireWatches();
    await vi.waitFor(() => {
      const last = asked().findLast(({ watch }) => watch === undefined);
      expect(last).toEqual({ resourceVersion: String(seen), resourceVersionMatch: "NotOlderThan" });
    }, 90_000);
    await watching(record);
    expect(record).toMatchObject({ lists: 2, objects: 8 });
  });

  it("is sent again if a page's token has expired", async () => {
    server.troubles.refuseStreamingLists(400);
    for (let n = 0; n < 10; n++) put(`pod-${n}`);
    server.troubles.expireContinueTokens();
    const { mirror, record } = reflect();
    await same(mirror);
    expect(record).toMatchObject({ lists: 1, errors: [] });
  });

  it("has the objects of its selector", async () => {
    put("one");
    server.put({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "two", namespace: "ml", uid: "two", labels: { app: "dcgm-exporter" } },
    });
    const { mirror } = reflect({ labelSelector: "app=dcgm-exporter" });
    await vi.waitFor(() => expect([...mirror.keys()]).toEqual(["two"]), 90_000);
  });
});

describe("a reflector's watch", () => {
  it("follows created, changed and deleted objects, and distinguishes an object that comes back under a name from the deleted one", async () => {
    put("a");
    const { mirror, record } = reflect();
    await same(mirror);
    put("b");
    put("a");
    await same(mirror);
    remove("b");
    put("b", "another");
    await same(mirror);
    expect(record.gone).toMatchObject([{ uid: "b", name: "b", namespace: "ml", inferred: false }]);
  });

  it.each(["status", "event"] as const)("is followed by a list if its version is too old, as %s", async (how) => {
    server.troubles.refuseTooOldAs(how);
    put("a");
    const { mirror, record } = reflect();
    await same(mirror);
    await watching(record);
    await server.goAway();
    for (let n = 0; n < 300; n++) put("b");
    remove("a");
    await server.comeBack();
    await same(mirror);
    expect(record.ended).toContain("expired");
    expect(record.gone).toMatchObject([{ uid: "a", inferred: true }]);
  });

  it("that is silent is given up, and everything is listed before it is opened again", async () => {
    put("a");
    const { mirror, record } = reflect();
    await same(mirror);
    await watching(record);
    server.silenceWatches();
    put("b");
    await same(mirror);
    expect(record.errors).toEqual([]);
    expect(record.ended).toContain("silent");
    expect(record.lists).toBe(2);
  });

  it("continues after a restore of the server's database, whose versions are older than the seen ones", async () => {
    put("stays");
    put("goes");
    const saved = save();
    const { mirror, record } = reflect();
    await same(mirror);
    await watching(record);
    put("stays");
    put("new");
    remove("goes");
    await same(mirror);
    saved.restore((version) => server.restore(version));
    await same(mirror);
    expect([...mirror.keys()].toSorted()).toEqual(["goes", "stays"]);
    expect(record.back).toBe(1);
    put("after");
    await same(mirror);
  });

  it("continues if the server is silent about versions that it has not reached, and has come further since", async () => {
    put("a");
    const saved = save();
    const { mirror, record } = reflect();
    await same(mirror);
    await watching(record);
    for (let n = 0; n < 5; n++) put("b");
    await same(mirror);
    // The connection stays open: only the silence shows the problem.
    server.silenceWatches();
    saved.restore((version) => server.store.restore(version));
    put("c");
    await same(mirror);
    expect(record.back).toBe(1);
    expect([...mirror.keys()].toSorted()).toEqual(["a", "c"]);
  });

  it("that is cut in the middle of a line, or has garbage, continues after the last complete event", async () => {
    put("a");
    const { mirror, record } = reflect();
    await same(mirror);
    await watching(record);
    server.spoilWatches('{"type":"ADD\u0000\n');
    put("b");
    await same(mirror);
    await watching(record);
    server.cutWatches(17);
    put("c");
    await same(mirror);
    expect(record.ended).toContain("garbage");
    expect(record.lists).toBe(1);
  });

  it("that the server ends at its timeout is opened again without a list or a pause", async () => {
    put("a");
    const { mirror, record } = reflect();
    await same(mirror);
    await watching(record);
    server.endWatches();
    await vi.waitFor(() => expect(record.ended).toEqual(["timeout"]));
    put("b");
    await same(mirror);
    expect(record).toMatchObject({ lists: 1, errors: [] });
  });
});

describe("a reflector whose server refuses", () => {
  it("uses the new token when the old one is no longer accepted", async () => {
    server.access.setTokens(["first"]);
    put("a");
    const { mirror, record } = reflect();
    await same(mirror);
    await watching(record);
    server.access.setTokens(["second"]);
    server.endWatches();
    put("b");
    await vi.waitFor(() => expect(server.openWatches()).toBe(0), 90_000);
    token = "second";
    await same(mirror);
  });

  it("sends no request for as long as the server asks", async () => {
    server.troubles.fail({ status: 429, retryAfterSeconds: 1 });
    put("a");
    const started = performance.now();
    const { mirror, record } = reflect();
    await same(mirror);
    expect(performance.now() - started).toBeGreaterThan(950);
    expect(record.errors).toMatchObject([{ code: "too-many-requests", retryAfterMillis: 1_000 }]);
  });

  it("reports a forbidden request in the server's words, and begins when it is allowed", async () => {
    put("a");
    server.access.withdraw("", "pods", "list", "watch");
    const { mirror, record } = reflect();
    await vi.waitFor(() => expect(record.errors.length).toBeGreaterThan(1), 90_000);
    expect(record.errors[0]).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("pods is forbidden") as string,
    });
    server.access.restore();
    await same(mirror);
  });
});

describe("a server whose clock is minutes apart", () => {
  it("is used for the times at which objects were seen", async () => {
    server.troubles.skewClock(-300_000);
    put("a");
    const { mirror, record } = reflect();
    await same(mirror);
    const off = record.seenAtMillis[0]! - (Date.now() - 300_000);
    expect(Math.abs(off)).toBeLessThan(3_000);
    expect(api.clock.skewMillis).toBeLessThan(-290_000);
  });
});

describe("for any troubles", () => {
  const trouble = fc.constantFrom("put", "remove", "end", "expire", "cut", "spoil", "away", "busy", "error", "chunk");

  it("the reflector ends with the objects of the server", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(trouble, fc.nat(9)), { maxLength: 40 }),
        fc.boolean(),
        async (steps, streaming) => {
          server.troubles.clear();
          if (!streaming) server.troubles.refuseStreamingLists(422);
          for (const text of pods.values()) remove(text.slice(0, text.indexOf("@")));
          const { mirror, reflector } = reflect();
          for (const [step, n] of steps) {
            if (step === "put") put(`pod-${n}`, `pod-${n}-${n % 2 === 0 ? "" : server.store.resourceVersion}`);
            else if (step === "remove") remove(`pod-${n}`);
            else if (step === "end") server.endWatches();
            else if (step === "expire") server.expireWatches();
            else if (step === "cut") server.cutWatches(n * 20);
            else if (step === "spoil") server.spoilWatches("{nonsense}\n");
            else if (step === "busy") for (let i = 0; i < 250; i++) put(`pod-${n}`, `pod-${n}`);
            else if (step === "error") server.troubles.fail({ status: 500 });
            else if (step === "chunk") server.troubles.chunkBodies(n);
            else {
              await server.goAway();
              put(`pod-${n}`, `pod-${n}`);
              await server.comeBack();
            }
            await new Promise((resolve) => setTimeout(resolve, n));
          }
          await same(mirror);
          await reflector.stop();
        },
      ),
      { numRuns: 8 },
    );
  });
});
