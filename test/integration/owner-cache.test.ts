import { afterEach, beforeEach, expect, it } from "vitest";
import { createApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import { createOwnerCache } from "../../collectors/kubernetes/owners/cache.ts";
import { ownerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import type { OwnerReference } from "../../domain/workload.ts";
import { systemClock } from "../../runtime/clock.ts";

let server: ApiServer;
const stopping = new AbortController();

beforeEach(async () => {
  server = await startApiServer();
  const metadata = { name: "train", namespace: "rich", uid: "uid-of-train", labels: { team: "rich" } };
  server.put({ apiVersion: "batch/v1", kind: "Job", metadata });
});
afterEach(() => server.stop());

const train: OwnerReference = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "uid-of-train" };

function newCache() {
  const access = { server: server.url, headers: {}, tls: {} };
  const api = createApiConnection(() => Promise.resolve(access), systemClock);
  return createOwnerCache({
    api,
    kinds: ownerKinds(),
    monotonicMillis: () => systemClock.monotonicMillis(),
    onForbidden: () => {},
    onRead: () => {},
    signal: stopping.signal,
  });
}

it("gives a pod no owner of another namespace, even if the pod names its UID", async () => {
  const owners = newCache();
  await owners.fetch(train, "rich");
  expect(owners.lookup(train, "rich")?.labels).toEqual({ team: "rich" });
  await owners.fetch(train, "poor");
  expect(owners.lookup(train, "poor")).toBeUndefined();
  expect(owners.lookup(train, "rich")?.labels).toEqual({ team: "rich" });
});

it.each<Partial<OwnerReference>>([
  { name: ".." },
  { name: "../../rich/jobs/train" },
  { name: "train?x" },
  { apiVersion: "batch/.." },
  { apiVersion: "batch/v1/namespaces/rich/jobs/train?" },
  { apiVersion: "batch/" },
])("sends no request to the server for a reference with an invalid name: %j", async (part) => {
  const owners = newCache();
  const odd = { ...train, ...part };
  await owners.fetch(odd, "poor");
  expect(owners.lookup(odd, "poor")).toBeUndefined();
  expect(server.requests.all.map(({ path }) => path)).toEqual([]);
});

it("asks again for an owner that is forbidden for a moment, as while a server starts", async () => {
  const owners = newCache();
  server.troubles.startUp(200, 0);
  await owners.fetch(train, "rich");
  expect(owners.lookup(train, "rich")?.labels).toEqual({ team: "rich" });
});

it("asks a few times for an owner that stays forbidden, then once for each owner of the kind", async () => {
  const owners = newCache();
  server.access.withdraw("batch", "jobs", "get");
  await owners.fetch(train, "rich");
  expect(server.requests.all).toHaveLength(3);
  await owners.fetch({ ...train, name: "other", uid: "other" }, "rich");
  expect(server.requests.all).toHaveLength(4);
});
