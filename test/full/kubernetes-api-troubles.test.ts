import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { createBusyCluster } from "../support/kubernetes/busy.ts";
import { createClusterDriver } from "../../demo/kubernetes/cluster/driver.ts";
import { objectsAt } from "../../demo/kubernetes/cluster/objects.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { ask, drain, watch, type WatchReader } from "../support/api-client.ts";

const NOON = Date.UTC(2026, 6, 8, 12);
let server: ApiServer;
let watches: WatchReader[] = [];

beforeEach(async () => {
  server = await startApiServer({ now: () => NOON, bookmarkMillis: 30 });
});
afterEach(async () => {
  for (const each of watches) each.close();
  watches = [];
  await server.stop();
});

const put = (name: string): string =>
  server.put({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "a", uid: name },
    spec: { note: "ü".repeat(50) },
  });
const get = (path: string, headers: Record<string, string> = {}) => ask(`${server.url}${path}`, { headers });

async function watchPods(query = ""): Promise<WatchReader> {
  const reader = await watch(
    `${server.url}/api/v1/pods?watch=true&resourceVersion=${server.store.resourceVersion}&${query}`,
  );
  watches.push(reader);
  return reader;
}

describe("troubles that a test switches on", () => {
  test("are errors for some requests, with the time to wait", async () => {
    server.troubles.fail({ status: 429, retryAfterSeconds: 7 }, 1, ({ path }) => path === "/api/v1/pods");
    expect((await get("/api/v1/nodes")).status).toBe(200);
    const refused = await get("/api/v1/pods");
    expect(refused.headers["retry-after"]).toBe("7");
    expect(refused.json()).toMatchObject({ code: 429, reason: "TooManyRequests", details: { retryAfterSeconds: 7 } });
    server.troubles.fail({ status: 500 }, 2);
    const statuses = [await get("/api/v1/pods"), await get("/version"), await get("/api/v1/pods")].map(
      ({ status }) => status,
    );
    expect(statuses).toEqual([500, 500, 200]);
  });

  test("are a server that goes away, and comes back on its port with all objects", async () => {
    put("p");
    const { url } = server;
    const reader = await watchPods();
    await server.goAway();
    expect(await reader.ended).toBe("cut");
    await expect(get("/api/v1/pods")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    put("q");
    await server.comeBack();
    expect(server.url).toBe(url);
    expect((await get("/api/v1/pods")).json<{ items: unknown[] }>().items).toHaveLength(2);
  });

  test("are watches that go silent while their connections stay open, and later ones that work", async () => {
    const silent = await watchPods("allowWatchBookmarks=true&timeoutSeconds=1");
    await silent.until(1);
    server.silenceWatches();
    const { text } = silent;
    const later = await watchPods();
    put("p");
    await later.until(1);
    const first = await Promise.race([silent.ended, new Promise((resolve) => setTimeout(resolve, 1500, "still open"))]);
    expect(first).toBe("still open");
    expect(silent.text).toBe(text);
    expect(server.openWatches()).toBe(2);
  });

  test("are streams that are cut at any byte", async () => {
    const reader = await watchPods();
    put("p");
    await reader.until(1);
    const whole = Buffer.byteLength(reader.text);
    for (const after of [0, 1, 17, whole - 1]) {
      const cut = await watchPods();
      server.cutWatches(after);
      if (after > 0) put("p");
      expect(await cut.ended).toBe("cut");
      expect(Buffer.byteLength(cut.text)).toBe(after);
    }
    server.troubles.cutBodies(20);
    await expect(get("/api/v1/pods")).rejects.toThrow("aborted");
    expect((await get("/api/v1/pods")).status).toBe(200);
  });

  test("are invalid bytes in the middle of a stream that continues", async () => {
    const reader = await watchPods();
    put("p");
    await reader.until(1);
    server.spoilWatches('{"type":"ADD\u0000\n<html>\n');
    put("q");
    await reader.until(2);
    expect(reader.events.map(({ object }) => object.metadata.name)).toEqual(["p", "q"]);
    expect(reader.text).toContain("<html>");
  });

  test("are bodies in pieces of random sizes, the same text for every seed", async () => {
    for (let i = 0; i < 30; i++) put(`p${i}`);
    const plain = await get("/api/v1/pods");
    for (const seed of [1, 2]) {
      server.troubles.chunkBodies(seed);
      const chunked = await get("/api/v1/pods");
      expect(chunked.headers["transfer-encoding"]).toBe("chunked");
      expect(chunked.bytes.equals(plain.bytes)).toBe(true);
    }
    const reader = await watchPods();
    for (let i = 0; i < 10; i++) put(`q${i}`);
    await reader.until(10);
    expect(reader.events.map(({ object }) => object.metadata.name)).toEqual(
      Array.from({ length: 10 }, (_, i) => `q${i}`),
    );
  });

  test("are slow bodies, and a clock that is minutes apart", async () => {
    for (let i = 0; i < 10; i++) put(`p${i}`);
    const { length } = (await get("/api/v1/pods")).bytes;
    server.troubles.slowBodies(length * 4);
    const began = performance.now();
    expect((await get("/api/v1/pods")).bytes).toHaveLength(length);
    expect(performance.now() - began).toBeGreaterThan(180);
    server.troubles.clear();
    server.troubles.skewClock(-5 * 60_000);
    expect((await get("/version")).headers.date).toBe(new Date(NOON - 300_000).toUTCString());
  });

  test("leave a log of the requests and their clients", async () => {
    await get("/api/v1/pods?limit=5&labelSelector=a%3Db", { "user-agent": "someone/1", accept: "application/json" });
    expect(server.requests.all).toEqual([
      {
        method: "GET",
        path: "/api/v1/pods",
        query: { limit: "5", labelSelector: "a=b" },
        userAgent: "someone/1",
        accept: "application/json",
        atMillis: NOON,
      },
    ]);
    server.requests.clear();
    expect(server.requests.all).toEqual([]);
  });
});

describe("clusters on the server", () => {
  test("the demo's cluster can be listed kind by kind, and watched for an hour", async () => {
    const fleet = createFleet({ seed: 1, gpus: 96 });
    const driver = createClusterDriver(fleet, server, () => NOON);
    driver.moveTo(NOON);
    const expected = objectsAt(fleet, NOON);
    for (const path of [
      "/api/v1/pods",
      "/api/v1/nodes",
      "/apis/kueue.x-k8s.io/v1beta1/workloads",
      "/apis/apps/v1/replicasets",
    ]) {
      const list = (await get(path)).json<{ kind: string; items: { metadata: { uid: string } }[] }>();
      const kind = list.kind.replace(/List$/, "");
      const uids = expected.filter((object) => object.kind === kind).map(({ metadata }) => metadata.uid);
      expect(list.items.map(({ metadata }) => metadata.uid).toSorted()).toEqual(uids.toSorted());
    }
    const reader = await watchPods();
    const before = server.store.resourceVersion;
    for (let minute = 1; minute <= 60; minute++) driver.moveTo(NOON + minute * 60_000);
    const changes = server.store.eventsSince("pods", before).length;
    expect(changes).toBeGreaterThan(0);
    expect((await reader.until(changes)).at(-1)!.object.metadata.resourceVersion).toBe(
      String(server.store.eventsSince("pods", before).at(-1)!.resourceVersion),
    );
  });

  test("a busy cluster is streamed as a watch to a client that reads slowly, followed by the events meanwhile", async () => {
    const busy = createBusyCluster({ pods: 10_000, nodes: 100, seed: 2 });
    busy.fill(server.store);
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&watch=true";
    const response = await fetch(`${server.url}/api/v1/pods?${query}`, { headers: { "accept-encoding": "identity" } });
    busy.change(server.store, 50);
    const types: string[] = [];
    let line = "";
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      const lines = `${line}${part as string}`.split("\n");
      line = lines.pop()!;
      for (const each of lines) types.push((JSON.parse(each) as { type: string }).type);
      if (types.length >= 10_051) break;
    }
    expect(types.indexOf("BOOKMARK")).toBe(10_000);
    expect(types.slice(0, 10_000).every((type) => type === "ADDED")).toBe(true);
    expect(types.slice(10_001, 10_051).filter((type) => type !== "BOOKMARK").length).toBeGreaterThan(45);
  });

  test("a busy cluster of 50,000 pods is served in pages and in one body, with at most 500 MB more memory", async () => {
    // A worker process keeps memory of earlier test files, and the reader is in the same process: the test measures the growth.
    const before = process.memoryUsage.rss();
    const busy = createBusyCluster({ pods: 50_000, nodes: 5000, seed: 1 });
    busy.fill(server.store);
    let items = 0;
    let token = "";
    do {
      const page = (await get(`/api/v1/pods?limit=2500&continue=${token}`)).json<{
        metadata: { continue?: string };
        items: unknown[];
      }>();
      items += page.items.length;
      token = page.metadata.continue ?? "";
      busy.change(server.store, 100);
    } while (token !== "");
    expect(items).toBe(50_000);
    let peak = 0;
    let pieces = 0;
    const bytes = await drain(`${server.url}/api/v1/pods?resourceVersion=0`, () => {
      if (++pieces % 100 === 0) peak = Math.max(peak, process.memoryUsage.rss());
    });
    expect(bytes).toBeGreaterThan(400e6);
    expect(peak).toBeGreaterThan(0);
    expect(peak - before).toBeLessThan(500e6);
  });
});
