import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KubernetesObject } from "../../demo/kubernetes/server/object.ts";
import { ADDED_RESOURCES } from "../../demo/kubernetes/server/resources.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { ask, watch, type WatchReader } from "../support/api-client.ts";

interface List {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly KubernetesObject[];
}

const NOON = Date.UTC(2026, 6, 8, 12);
let server: ApiServer;
let watches: WatchReader[] = [];

beforeEach(async () => {
  server = await startApiServer({ now: () => NOON, bookmarkMillis: 50 });
});
afterEach(async () => {
  for (const each of watches) each.close();
  watches = [];
  await server.stop();
});

function pod(
  name: string,
  namespace = "a",
  more: { labels?: Record<string, string>; node?: string; note?: string } = {},
): KubernetesObject {
  const { labels = {}, node, note = "" } = more;
  const metadata = { name, namespace, uid: `uid-${name}`, labels };
  const spec = node === undefined ? {} : { nodeName: node };
  return { apiVersion: "v1", kind: "Pod", metadata, spec, status: { phase: "Running", message: note } };
}

/** Pods `p00`, `p01`, … in one namespace. */
function fill(count: number, note = ""): void {
  for (let i = 0; i < count; i++) server.put(pod(`p${String(i).padStart(2, "0")}`, "a", { note }));
}

const get = (path: string, headers: Record<string, string> = {}) => ask(`${server.url}${path}`, { headers });
const list = async (query = "", path = "/api/v1/pods"): Promise<List> => (await get(`${path}?${query}`)).json<List>();
const namesOf = ({ items }: List): string[] => items.map(({ metadata }) => metadata.name);

async function watchPods(query: string, headers: Record<string, string> = {}): Promise<WatchReader> {
  const reader = await watch(`${server.url}/api/v1/pods?watch=true&${query}`, headers);
  watches.push(reader);
  return reader;
}

const eventNames = ({ events }: WatchReader): string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata.name ?? ""}`.trim());

describe("lists", () => {
  test("have the version of the moment, and items without kind and apiVersion, except for custom resources", async () => {
    const version = server.put(pod("p", "a"));
    const answer = await list();
    expect(answer).toMatchObject({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: version } });
    expect(answer.items[0]!.metadata).toMatchObject({ name: "p", namespace: "a", resourceVersion: version });
    expect(Object.keys(answer.items[0]!)).toEqual(["metadata", "spec", "status"]);
    server.put({ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", metadata: { name: "q", uid: "u" } });
    const queues = await list("", "/apis/scheduling.volcano.sh/v1beta1/queues");
    expect(queues.items[0]).toMatchObject({ kind: "Queue", apiVersion: "scheduling.volcano.sh/v1beta1" });
  });

  test("are of one namespace, of selected labels and of selected fields; a single object is read by its name", async () => {
    server.put(pod("one", "a", { labels: { app: "x" }, node: "n1" }));
    server.put(pod("two", "a", { labels: { app: "y" }, node: "n2" }));
    server.put(pod("three", "b", { node: "n1" }));
    expect(namesOf(await list("", "/api/v1/namespaces/a/pods"))).toEqual(["one", "two"]);
    expect(namesOf(await list(`labelSelector=${encodeURIComponent("app in (x,z)")}`))).toEqual(["one"]);
    expect(namesOf(await list(`labelSelector=${encodeURIComponent("app!=x")}`))).toEqual(["two", "three"]);
    expect(namesOf(await list("fieldSelector=spec.nodeName%3Dn1"))).toEqual(["one", "three"]);
    expect((await get("/api/v1/namespaces/b/pods/three")).json()).toMatchObject({ kind: "Pod", apiVersion: "v1" });
    const missing = await get("/api/v1/namespaces/a/pods/three");
    expect(missing.json()).toMatchObject({
      kind: "Status",
      status: "Failure",
      reason: "NotFound",
      code: 404,
      message: 'pods "three" not found',
    });
    expect((await get("/api/v1/pods?fieldSelector=spec.image%3Dx")).status).toBe(400);
  });

  test("come in pages that are one snapshot, with any changes meanwhile", async () => {
    fill(5);
    const first = await list("limit=2");
    expect(first.metadata.remainingItemCount).toBe(3);
    server.delete(pod("p03"));
    server.put(pod("p02x"));
    const second = await list(`limit=2&continue=${first.metadata.continue}`);
    const third = await list(`limit=2&continue=${second.metadata.continue}`);
    expect([first, second, third].flatMap(namesOf)).toEqual(["p00", "p01", "p02", "p03", "p04"]);
    expect(new Set([first, second, third].map(({ metadata }) => metadata.resourceVersion)).size).toBe(1);
    expect(third.metadata).not.toHaveProperty("continue");
  });

  test("expire between pages with a 410, whose token continues with the current state", async () => {
    fill(4);
    const first = await list("limit=2");
    server.delete(pod("p02"));
    server.store.compact();
    const gone = await get(`/api/v1/pods?limit=2&continue=${first.metadata.continue}`);
    expect(gone.status).toBe(410);
    const status = gone.json<{ reason: string; metadata: { continue: string } }>();
    expect(status.reason).toBe("Expired");
    expect(namesOf(await list(`limit=2&continue=${status.metadata.continue}`))).toEqual(["p03"]);
    server.troubles.expireContinueTokens();
    const again = (await list("limit=1")).metadata.continue;
    expect((await get(`/api/v1/pods?limit=1&continue=${again}`)).status).toBe(410);
    expect((await get(`/api/v1/pods?limit=1&continue=${again}`)).status).toBe(200);
    expect((await get("/api/v1/pods?continue=nonsense")).status).toBe(400);
  });

  test("take version 0 without a limit and possibly old, others as Exact or as NotOlderThan", async () => {
    fill(3);
    const then = server.store.resourceVersion;
    server.put(pod("p09"));
    expect(namesOf(await list("resourceVersion=0&limit=2"))).toHaveLength(4);
    server.troubles.lagLists(1);
    expect((await list("resourceVersion=0")).items).toHaveLength(3);
    expect((await list(`resourceVersion=${then}&resourceVersionMatch=Exact`)).items).toHaveLength(3);
    expect((await list(`resourceVersion=${then}&resourceVersionMatch=NotOlderThan`)).items).toHaveLength(4);
    server.store.compact();
    expect((await get(`/api/v1/pods?resourceVersion=${then}&resourceVersionMatch=Exact`)).json()).toMatchObject({
      code: 410,
      reason: "Expired",
    });
    expect((await get("/api/v1/pods?resourceVersion=99999&resourceVersionMatch=NotOlderThan")).status).toBe(504);
    expect((await get("/api/v1/pods?resourceVersionMatch=Exact")).json()).toMatchObject({
      code: 422,
      reason: "Invalid",
    });
  });

  test("are of metadata alone on request", async () => {
    server.put(pod("p", "a", { labels: { app: "x" } }));
    const accept =
      "application/vnd.kubernetes.protobuf, application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    const answer = (await get("/api/v1/pods", { accept })).json<List>();
    expect(answer).toMatchObject({ kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1" });
    expect(answer.items[0]).toMatchObject({
      kind: "PartialObjectMetadata",
      metadata: { name: "p", labels: { app: "x" } },
    });
    expect(answer.items[0]).not.toHaveProperty("spec");
    expect((await get("/api/v1/pods", { accept: "application/yaml" })).status).toBe(406);
  });

  test("are compressed if they are large and the client accepts it", async () => {
    fill(40, "x".repeat(5000));
    const answer = await get("/api/v1/pods", { "accept-encoding": "gzip" });
    expect(answer.headers["content-encoding"]).toBe("gzip");
    const plain = await get("/api/v1/pods");
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(gunzipSync(answer.bytes).equals(plain.bytes)).toBe(true);
    expect(
      (await get("/api/v1/pods?limit=2", { "accept-encoding": "gzip" })).headers["content-encoding"],
    ).toBeUndefined();
  });
});

describe("watches", () => {
  test("send the events since a version, then new ones, in order", async () => {
    const since = server.put(pod("old"));
    server.put(pod("new"));
    const reader = await watchPods(`resourceVersion=${since}`);
    server.put(pod("old", "a", { node: "n" }));
    server.delete(pod("new"));
    await reader.until(3);
    expect(eventNames(reader)).toEqual(["ADDED new", "MODIFIED old", "DELETED new"]);
    const versions = reader.events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual([1, 2, 3].map((after) => Number(since) + after));
    expect(reader.events[0]!.object.kind).toBe("Pod");
  });

  test("send events for objects that begin or cease to be selected", async () => {
    server.put(pod("p", "a", { labels: { app: "y" } }));
    const reader = await watchPods(`resourceVersion=${server.store.resourceVersion}&labelSelector=app%3Dx`);
    server.put(pod("p", "a", { labels: { app: "x" } }));
    server.put(pod("p", "a", { labels: { app: "x" }, node: "n" }));
    const version = server.put(pod("p", "a", { labels: { app: "z" } }));
    server.delete(pod("p"));
    server.put(pod("q", "a", { labels: { app: "x" } }));
    await reader.until(4);
    expect(eventNames(reader)).toEqual(["ADDED p", "MODIFIED p", "DELETED p", "ADDED q"]);
    expect(reader.events[2]!.object.metadata).toMatchObject({ resourceVersion: version, labels: { app: "x" } });
  });

  test("send bookmarks only to clients that allow them, the last one when their time has ended", async () => {
    const since = server.put(pod("p"));
    const [with_, without] = [
      await watchPods(`resourceVersion=${since}&allowWatchBookmarks=true&timeoutSeconds=1`),
      await watchPods(`resourceVersion=${since}&timeoutSeconds=1`),
    ];
    const version = String(server.store.resourceVersion);
    await with_.until(1);
    expect(with_.events[0]).toMatchObject({
      type: "BOOKMARK",
      object: { kind: "Pod", metadata: { resourceVersion: version } },
    });
    expect(server.openWatches("pods")).toBe(2);
    expect(await Promise.all([with_.ended, without.ended])).toEqual(["whole", "whole"]);
    expect(without.events).toEqual([]);
    expect(server.openWatches()).toBe(0);
  });

  test("are refused with 410 if the version is too old, as an answer or within the stream", async () => {
    const since = server.put(pod("p"));
    server.put(pod("q"));
    server.store.compact();
    expect((await get(`/api/v1/pods?watch=true&resourceVersion=${since}`)).json()).toMatchObject({
      code: 410,
      reason: "Expired",
    });
    server.troubles.refuseTooOldAs("event");
    const reader = await watchPods(`resourceVersion=${since}`);
    expect(await reader.ended).toBe("whole");
    expect(reader.status).toBe(200);
    expect(reader.events).toMatchObject([{ type: "ERROR", object: { kind: "Status", code: 410 } }]);
    const open = await watchPods(`resourceVersion=${server.store.resourceVersion}`);
    server.expireWatches();
    expect(await open.ended).toBe("whole");
    expect(open.events).toMatchObject([{ type: "ERROR", object: { code: 410 } }]);
  });

  test("begin with the state on request, up to a bookmark that marks its end", async () => {
    fill(3);
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=";
    const reader = await watchPods(query);
    server.put(pod("p09"));
    await reader.until(5);
    expect(eventNames(reader).slice(0, 5)).toEqual(["ADDED p00", "ADDED p01", "ADDED p02", "BOOKMARK", "ADDED p09"]);
    expect(reader.events[3]!.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
    server.troubles.refuseStreamingLists(422);
    const refused = await get(`/api/v1/pods?watch=true&${query}`);
    expect(refused.json()).toMatchObject({ code: 422, reason: "Invalid" });
    server.troubles.refuseStreamingLists(400);
    expect((await get(`/api/v1/pods?watch=true&${query}`)).status).toBe(400);
  });

  test("are of metadata alone, or of one namespace, on request", async () => {
    const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    const reader = await watchPods(`resourceVersion=${server.store.resourceVersion}`, { accept });
    const inB = await watch(
      `${server.url}/api/v1/namespaces/b/pods?watch=1&resourceVersion=${server.store.resourceVersion}`,
    );
    watches.push(inB);
    server.put(pod("p", "a", { node: "n" }));
    server.put(pod("q", "b"));
    await Promise.all([reader.until(2), inB.until(1)]);
    expect(reader.events[0]!.object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "p" } });
    expect(reader.events[0]!.object.spec).toBeUndefined();
    expect(eventNames(inB)).toEqual(["ADDED q"]);
  });
});

describe("discovery", () => {
  test("lists groups and resources, also in one answer, as they come and go", async () => {
    expect((await get("/version")).json()).toMatchObject({ major: "1" });
    expect((await get("/api")).json()).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
    const core = (await get("/api/v1")).json<{ resources: { name: string; namespaced: boolean }[] }>();
    expect(core.resources).toContainEqual(expect.objectContaining({ name: "pods", namespaced: true, kind: "Pod" }));
    const groups = async (): Promise<string[]> =>
      (await get("/apis")).json<{ groups: { name: string }[] }>().groups.map(({ name }) => name);
    expect(await groups()).toContain("kueue.x-k8s.io");
    server.remove("kueue.x-k8s.io");
    expect(await groups()).not.toContain("kueue.x-k8s.io");
    expect((await get("/apis/kueue.x-k8s.io/v1beta1/workloads")).status).toBe(404);
    expect((await get("/apis/kueue.x-k8s.io/v1beta1")).status).toBe(404);
    server.install(ADDED_RESOURCES);
    expect((await get("/apis/kueue.x-k8s.io/v1beta1/workloads")).status).toBe(200);
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    const all = (await get("/apis", { accept })).json<{ kind: string; items: { metadata: { name: string } }[] }>();
    expect(all.kind).toBe("APIGroupDiscoveryList");
    expect(all.items.map(({ metadata }) => metadata.name).toSorted()).toEqual((await groups()).toSorted());
  });

  test("ends the watches of a removed group", async () => {
    const url = `${server.url}/apis/kubeflow.org/v1/notebooks?watch=true&resourceVersion=${server.store.resourceVersion}`;
    const reader = await watch(url);
    server.remove("kubeflow.org");
    expect(await reader.ended).toBe("whole");
  });
});

describe("leases", () => {
  const path = "/apis/coordination.k8s.io/v1/namespaces/a/leases";
  const send = (method: string, to: string, body: unknown) => ask(`${server.url}${to}`, { method, body });

  test("are created once, and replaced only by a client that has the newest version", async () => {
    const created = await send("POST", path, { metadata: { name: "l" }, spec: { holderIdentity: "one" } });
    expect(created.status).toBe(201);
    const lease = created.json<KubernetesObject>();
    expect(lease).toMatchObject({
      kind: "Lease",
      metadata: { namespace: "a", creationTimestamp: "2026-07-08T12:00:00Z" },
    });
    expect((await send("POST", path, { metadata: { name: "l" } })).json()).toMatchObject({
      code: 409,
      reason: "AlreadyExists",
    });
    const taken = await send("PUT", `${path}/l`, { ...lease, spec: { holderIdentity: "two" } });
    expect(taken.json()).toMatchObject({ spec: { holderIdentity: "two" }, metadata: { uid: lease.metadata.uid } });
    const late = await send("PUT", `${path}/l`, { ...lease, spec: { holderIdentity: "three" } });
    expect(late.json()).toMatchObject({ code: 409, reason: "Conflict" });
    expect((await get(`${path}/l`)).json()).toMatchObject({ spec: { holderIdentity: "two" } });
    expect((await send("PUT", `${path}/l`, { metadata: { name: "l" } })).status).toBe(422);
    expect((await send("PUT", `${path}/m`, { ...lease, metadata: { ...lease.metadata, name: "m" } })).status).toBe(404);
  });

  test("are the only objects that can be written", async () => {
    expect((await send("POST", "/api/v1/namespaces/a/pods", pod("p"))).json()).toMatchObject({ code: 405 });
    expect((await send("DELETE", `${path}/l`, undefined)).status).toBe(405);
  });
});

describe("access", () => {
  test("is for clients with accepted tokens, while open watches continue", async () => {
    server.access.setTokens(["old"]);
    expect((await get("/api/v1/pods")).json()).toMatchObject({ kind: "Status", code: 401, reason: "Unauthorized" });
    const headers = { authorization: "Bearer old" };
    const reader = await watchPods(`resourceVersion=${server.store.resourceVersion}`, headers);
    server.access.setTokens(["new"]);
    expect((await get("/api/v1/pods", headers)).status).toBe(401);
    expect((await get("/api/v1/pods", { authorization: "Bearer new" })).status).toBe(200);
    server.put(pod("p"));
    expect(await reader.until(1)).toHaveLength(1);
  });

  test("is by verb and resource, and reviews use the same rules", async () => {
    server.access.withdraw("", "nodes", "list", "watch");
    const refused = (await get("/api/v1/nodes")).json<{ message: string }>();
    expect(refused).toMatchObject({ code: 403, reason: "Forbidden" });
    expect(refused.message).toBe(
      'nodes is forbidden: User "system:serviceaccount:gpu-ledger:collector" cannot list resource "nodes" in API group "" at the cluster scope',
    );
    server.put({ apiVersion: "v1", kind: "Node", metadata: { name: "n", uid: "u" } });
    expect((await get("/api/v1/nodes/n")).status).toBe(200);
    const review = async (kind: string, spec: unknown) =>
      (await ask(`${server.url}/apis/authorization.k8s.io/v1/${kind}`, { method: "POST", body: { spec } })).json();
    const may = (verb: string, resource: string) =>
      review("selfsubjectaccessreviews", { resourceAttributes: { verb, resource, group: "" } });
    expect(await may("list", "nodes")).toMatchObject({ status: { allowed: false } });
    expect(await may("list", "pods")).toMatchObject({ status: { allowed: true } });
    server.access.setRules([{ verbs: ["list"], apiGroups: [""], resources: ["pods"], namespace: "a" }]);
    expect((await get("/api/v1/namespaces/a/pods")).status).toBe(200);
    expect((await get("/api/v1/pods")).status).toBe(403);
    expect(await review("selfsubjectrulesreviews", { namespace: "a" })).toMatchObject({
      status: { resourceRules: [{ verbs: ["list"], apiGroups: [""], resources: ["pods"] }], incomplete: false },
    });
  });
});
