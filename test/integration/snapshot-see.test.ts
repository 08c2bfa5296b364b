import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApiConnection, type ApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import { ownerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import { WATCHED_KINDS, withoutOwner } from "../../collectors/kubernetes/watcher/kinds.ts";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { objectsAt } from "../../demo/kubernetes/cluster/objects.ts";
import type { KubernetesObject } from "../../demo/kubernetes/server/object.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { startExporterServers, type ExporterServers } from "../../demo/servers.ts";
import { systemClock } from "../../runtime/clock.ts";
import { seeCluster, type SeeOptions } from "../../snapshot/see-cluster.ts";
import type { Seen } from "../../snapshot/seen.ts";
import { startLargeCluster } from "../support/snapshot/large-cluster.ts";
import { startExporterDouble, type ExporterDouble } from "../support/exporter-double.ts";

/** No exporter of the fleet is away at this time. */
const NOON = Date.UTC(2026, 6, 8, 12);
const DIRECT = { what: "pods/proxy", without: "the GPUs of their nodes have no measurements" };

const fleet = createFleet({ seed: 1, gpus: 96 });
let server: ApiServer;
let exporters: ExporterServers;
let api: ApiConnection;
const doubles: ExporterDouble[] = [];

beforeEach(async () => {
  let passed = 0;
  exporters = await startExporterServers(fleet, () => NOON + 4_000 * passed++);
  server = await startApiServer({ now: () => NOON });
  for (const object of objectsAt(fleet, NOON, { exporters: exporters.targets })) server.put(object);
  const access = { server: server.url, headers: {}, tls: {} };
  api = createApiConnection(() => Promise.resolve(access), { ...systemClock, nowMillis: () => NOON - 60_000 });
});
afterEach(async () => {
  api.close();
  await server.stop();
  await exporters.stop();
  await Promise.all(doubles.splice(0).map((double) => double.close()));
});

function see(more: Partial<SeeOptions> = {}): Promise<Seen> {
  return seeCluster(api, {
    timeoutMillis: 5_000,
    signal: new AbortController().signal,
    betweenMillis: 50,
    now: () => NOON - 60_000,
    kinds: ownerKinds(),
    ...more,
  });
}

function counts(objects: readonly { readonly kind?: string }[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { kind = "" } of objects) sums[kind] = (sums[kind] ?? 0) + 1;
  return sums;
}

function pagesOf(seen: Seen): readonly number[] {
  return seen.exporters.map(({ readings }) => readings.filter((reading) => "page" in reading).length);
}

/** Puts an exporter's pod at the address of a server of the test. */
function putExporter(name: string, url: string): void {
  const { hostname, port } = new URL(url);
  const metadata = { name, namespace: "any", uid: `uid-${name}`, labels: { app: "nvidia-dcgm-exporter" } };
  const spec = { nodeName: `node-of-${name}`, containers: [{ ports: [{ containerPort: Number(port) }] }] };
  server.put({ apiVersion: "v1", kind: "Pod", metadata, spec, status: { phase: "Running", podIP: hostname } });
}

async function startDouble(...parameters: Parameters<typeof startExporterDouble>): Promise<ExporterDouble> {
  const double = await startExporterDouble(...parameters);
  doubles.push(double);
  return double;
}

describe("a cluster that is seen", () => {
  it("has the objects of each kind without Events, pods last, and each exporter's page twice", async () => {
    const seen = await see();
    const put = objectsAt(fleet, NOON).filter(({ kind }) => kind !== "Event" && kind !== "ResourceFlavor");
    expect(counts(seen.objects)).toEqual(counts(put));
    expect(seen.objects.every(({ apiVersion, metadata }) => apiVersion !== undefined && metadata.uid !== "")).toBe(
      true,
    );
    expect(seen.objects.findLastIndex(({ kind }) => kind !== "Pod")).toBe(
      seen.objects.length - counts(seen.objects)["Pod"]! - 1,
    );
    expect(seen.unseen).toEqual([]);
    // The server's clock counts: this machine's is a minute behind.
    expect(Math.abs(seen.atMillis - NOON)).toBeLessThan(30_000);
    expect(new Set(seen.exporters.map(({ node }) => node))).toEqual(new Set(fleet.nodes.map(({ name }) => name)));
    for (const { readings } of seen.exporters) {
      const pages = readings.map((reading) => ("page" in reading ? reading.page().toString() : reading.failure));
      expect(pages).toEqual([expect.stringMatching(/^# HELP /), expect.stringMatching(/^# HELP /)]);
      expect(pages[0]).not.toBe(pages[1]);
      expect(readings.map(({ atMillis }) => atMillis)).toEqual([seen.atMillis, seen.atMillis]);
    }
  });

  it("is read with lists, metadata of owners, and pages through the server, and nothing is written", async () => {
    await see();
    const requests = server.requests.all;
    expect(requests.every(({ method, query }) => method === "GET" && query["watch"] === undefined)).toBe(true);
    const partial = requests
      .filter(({ accept }) => accept.includes("PartialObjectMetadataList"))
      .map(({ path }) => path);
    expect(partial).toContain("/apis/apps/v1/replicasets");
    expect(partial).not.toContain("/apis/batch/v1/jobs");
    expect(partial).not.toContain("/api/v1/pods");
    expect(requests.filter(({ path }) => path.includes("/proxy/"))).toHaveLength(2 * fleet.nodes.length);
  });

  it.each([
    ["", "nodes"],
    ["", "namespaces"],
    ["policy", "poddisruptionbudgets"],
    ["scheduling.volcano.sh", "podgroups"],
    ["apps", "replicasets"],
    ["batch", "jobs"],
  ])("has no objects of a kind without its permission, all others, and the effect: %s/%s", async (group, resource) => {
    const all = counts((await see()).objects);
    server.access.withdraw(group, resource, "list");
    const seen = await see();
    const watched = WATCHED_KINDS.find((each) => each.group === group && each.resource === resource);
    const owner = ownerKinds().all.find((each) => each.group === group && each.resource === resource);
    const { kind } = watched ?? owner!;
    const { [kind]: missing, ...others } = all;
    expect(missing).toBeGreaterThan(0);
    expect(counts(seen.objects)).toEqual(others);
    expect(seen.unseen).toEqual([
      {
        what: group === "" ? resource : `${resource}.${group}`,
        why: "permission to list in the whole cluster is missing",
        without: watched?.without ?? withoutOwner(owner!),
      },
    ]);
    expect(pagesOf(seen)).toEqual(fleet.nodes.map(() => 2));
  });

  it("has no pods and no exporters without the permission to list pods", async () => {
    server.access.withdraw("", "pods", "list");
    const seen = await see();
    expect(seen.objects.some(({ kind }) => kind === "Node")).toBe(true);
    expect(seen.exporters).toEqual([]);
    expect(seen.unseen.map(({ what }) => what)).toEqual(["pods"]);
  });

  it("has the exporters by their labels if the list of all pods fails", async () => {
    server.troubles.fail(
      { status: 500 },
      3,
      ({ path, query }) => path === "/api/v1/pods" && !("labelSelector" in query),
    );
    const seen = await see();
    expect(seen.unseen).toMatchObject([
      { what: "pods", why: "Internal error occurred: etcdserver: request timed out" },
    ]);
    expect(pagesOf(seen)).toEqual(fleet.nodes.map(() => 2));
  });

  it("is complete after a server that is busy for a moment", async () => {
    server.troubles.fail({ status: 429, retryAfterSeconds: 0 }, 2, ({ path }) => path === "/api/v1/nodes");
    expect((await see()).unseen).toEqual([]);
  });

  it("is an error that names both permissions if neither nodes nor pods may be listed", async () => {
    server.access.withdraw("", "nodes", "list");
    server.access.withdraw("", "pods", "list");
    await expect(see()).rejects.toThrow(
      "permission to list nodes and pods in the whole cluster is missing. Check it with:\n" +
        "  kubectl auth can-i list nodes\n  kubectl auth can-i list pods --all-namespaces",
    );
  });

  it("is an error if both lists fail, and if the credentials are not accepted in the middle", async () => {
    const isList = ({ path }: { readonly path: string }): boolean =>
      path === "/api/v1/nodes" || path === "/api/v1/pods";
    server.troubles.fail({ status: 500 }, 6, isList);
    await expect(see()).rejects.toThrow("Internal error occurred");
    server.troubles.fail({ status: 401 }, 2, ({ path }) => path === "/api/v1/namespaces");
    await expect(see()).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("is an error if the server does not answer", async () => {
    await server.goAway();
    await expect(see()).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe("the large cluster of measurements", () => {
  it("has its pods, and the pages of its exporters have their names", async () => {
    const large = await startLargeCluster({ nodes: 3, gpusOfNode: 2, pods: 40, gpuPods: 5 });
    const access = { server: large.server.url, headers: {}, tls: {} };
    const connection = createApiConnection(() => Promise.resolve(access), systemClock);
    try {
      const options = { timeoutMillis: 5_000, signal: new AbortController().signal, betweenMillis: 0 };
      const seen = await seeCluster(connection, { ...options, now: Date.now, kinds: ownerKinds() });
      expect(seen.unseen).toEqual([]);
      expect(counts(seen.objects)).toMatchObject({ Node: 3, Pod: 40 });
      const holders = seen.exporters.map(({ readings: [first] }) => [
        ...new Set(
          "page" in first!
            ? first
                .page()
                .toString()
                .match(/(?<=,pod=")[^"]+/g)
            : [],
        ),
      ]);
      expect(holders.flat().toSorted()).toEqual(["pod-0", "pod-1", "pod-2", "pod-3", "pod-4"]);
      const names = new Set(seen.objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`));
      const owners = seen.objects.flatMap(({ metadata }) =>
        (metadata.ownerReferences ?? []).map(({ kind, name }) => `${kind} ${metadata.namespace} ${name}`),
      );
      expect(owners.filter((owner) => !names.has(owner))).toEqual([]);
    } finally {
      connection.close();
      await large.stop();
    }
  });
});

describe("the pages of a cluster", () => {
  it("are read at the pods without the permission for the proxy, which is asked for once in each namespace", async () => {
    server.access.withdraw("", "pods/proxy", "get");
    const seen = await see();
    expect(pagesOf(seen)).toEqual(fleet.nodes.map(() => 2));
    expect(seen.unseen).toEqual([]);
    const reviews = server.requests.all.filter(({ path }) => path.endsWith("/selfsubjectaccessreviews"));
    expect(reviews.length).toBe(new Set(seen.exporters.map(({ target }) => target.split("/")[0])).size);
  });

  it("are unseen once without the proxy if pods cannot be reached, with the way to grant the permission", async () => {
    server.access.withdraw("", "pods/proxy", "get");
    putExporter("far", "http://127.0.0.1:1");
    putExporter("farther", "http://127.0.0.1:2");
    const seen = await see();
    expect(seen.unseen).toMatchObject([DIRECT]);
    const { why } = seen.unseen[0]!;
    expect(why).toContain(`permission to get pods/proxy is missing, and 2 of ${fleet.nodes.length + 2} exporters`);
    expect(why).toContain("kubectl create clusterrole gpu-exporter-pages --verb=get --resource=pods/proxy");
    const far = seen.exporters.find(({ target }) => target === "any/far")!;
    expect(far.readings).toEqual(
      [1, 2].map(() => ({ atMillis: seen.atMillis, failure: "connect ECONNREFUSED 127.0.0.1:1" })),
    );
  });

  it("have failures of exporters that are down, slow, broken, or that refuse, and the other pages", async () => {
    const slow = await startDouble(() => {});
    const broken = await startDouble((_, response) => {
      response.writeHead(200, { "content-length": 1000 });
      response.write("# HELP", () => response.destroy());
    });
    const strict = await startDouble((_, response) => response.writeHead(403).end("no\n"));
    const ill = await startDouble((_, response) => response.writeHead(500).end());
    const urls = { down: "http://127.0.0.1:1", slow: slow.url, broken: broken.url, strict: strict.url, ill: ill.url };
    for (const [name, url] of Object.entries(urls)) putExporter(name, url);
    // On a busy machine, a page that is answered takes seconds, too.
    const seen = await see({ timeoutMillis: 5_000 });
    const failureOf = (name: string): unknown[] =>
      seen.exporters
        .find(({ target }) => target === `any/${name}`)!
        .readings.map((each) => "failure" in each && each.failure);
    const twice = (failure: unknown) => [failure, failure];
    expect(failureOf("down")).toEqual(twice("error trying to reach service: connect ECONNREFUSED 127.0.0.1:1"));
    expect(failureOf("slow")).toEqual(twice("no answer within 5 s"));
    expect(failureOf("broken")).toEqual(twice("aborted"));
    expect(failureOf("strict")).toEqual(twice("HTTP 403"));
    expect(failureOf("ill")).toEqual(twice("HTTP 500"));
    expect(pagesOf(seen).filter((pages) => pages === 2)).toHaveLength(fleet.nodes.length);
    expect(seen.unseen).toEqual([]);
  });

  it.each(["through the server", "at the pods"])("above 64 MB are failures: %s", async (way) => {
    const large = Buffer.alloc(64 * 1024 * 1024 + 1, "#");
    const double = await startDouble((_, response) => response.end(large));
    putExporter("large", double.url);
    if (way === "at the pods") server.access.withdraw("", "pods/proxy", "get");
    const seen = await see({ timeoutMillis: 30_000 });
    const { readings } = seen.exporters.find(({ target }) => target === "any/large")!;
    expect(readings.map((each) => "failure" in each && each.failure)).toEqual(
      [1, 2].map(() => "the page is larger than 64 MB"),
    );
  });

  it("have one reading of an exporter that is away in one of the rounds", async () => {
    let asked = 0;
    const double = await startDouble((_, response, self) =>
      asked++ === 0 ? response.writeHead(503).end() : self.page(response, "a 1\n"),
    );
    putExporter("restarted", double.url);
    const seen = await see();
    const { readings } = seen.exporters.find(({ target }) => target === "any/restarted")!;
    expect(readings.map((each) => ("page" in each ? each.page().toString() : each.failure))).toEqual([
      "HTTP 503",
      "a 1\n",
    ]);
    expect(seen.unseen).toEqual([]);
  });

  it("have the pages of the companions of their node", async () => {
    const own = await startDouble((_, response, self) => self.page(response, "own 1\n"));
    const beside = await startDouble((_, response, self) => self.page(response, "beside 1\n"));
    putExporter("dcgm", own.url);
    putExporter("hami", beside.url);
    const hami = server.store.get("pods", "any/hami")!.object.json("1");
    const pod = JSON.parse(hami) as KubernetesObject & { spec: object };
    const labels = { "app.kubernetes.io/component": "hami-device-plugin" };
    server.put({
      ...pod,
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...pod.metadata, labels },
      spec: { ...pod.spec, nodeName: "node-of-dcgm" },
    });
    const { exporters: seen } = await see();
    expect(
      seen
        .find(({ target }) => target === "any/dcgm")!
        .readings.map((each) => "page" in each && each.page().toString()),
    ).toEqual([1, 2].map(() => "own 1\n\nbeside 1\n\n"));
    expect(seen.some(({ target }) => target === "any/hami")).toBe(false);
  });

  it("end with the signal's reason, also while a page is awaited", async () => {
    const stopping = new AbortController();
    const reason = new Error("stopped");
    const double = await startDouble(() => stopping.abort(reason));
    putExporter("slow", double.url);
    await expect(see({ signal: stopping.signal })).rejects.toBe(reason);
  });
});
