import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ELECTION_TIMING } from "../../collectors/kubernetes/api/election.ts";
import { neededPermissions, type NeededPermission } from "../../collectors/kubernetes/watcher/kinds.ts";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { createClusterDriver } from "../../demo/kubernetes/cluster/driver.ts";
import type { AccessAttempt } from "../../demo/kubernetes/server/access.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import { openTestBus } from "../support/pipeline.ts";
import { followFacts, startTestWatcher, type SentFacts, type TestWatcher } from "../support/watcher.ts";

const LONG = { timeout: 90_000, interval: 50 };
const NOON = Date.UTC(2026, 6, 8, 12);
/** The lease of test watchers. */
const LEASE = { namespace: "gpu-ledger", name: "watcher" };

let server: ApiServer;
let driver: ReturnType<typeof createClusterDriver>;
let bus: Bus;
let sent: SentFacts;
let closeBus: () => Promise<void>;
let watcher: TestWatcher | undefined;
let refused: AccessAttempt[];

beforeEach(async () => {
  server = await startApiServer({ bookmarkMillis: 50 });
  refused = [];
  const refusal = server.access.refusal;
  vi.spyOn(server.access, "refusal").mockImplementation((attempt) => {
    refused.push(attempt);
    return refusal(attempt);
  });
  driver = createClusterDriver(createFleet({ seed: 3, gpus: 96 }), server, () => NOON);
  driver.moveTo(NOON);
  ({ bus, close: closeBus } = await openTestBus());
  sent = await followFacts(bus);
});
afterEach(async () => {
  await watcher?.stop();
  await sent.close();
  await closeBus();
  await server.stop();
});

/** Gives the collector's account these permissions. Creation cannot be limited to a name. */
function allow(permissions: readonly NeededPermission[]): void {
  server.access.setRules(
    permissions.map(({ verb, group, resource, namespace }) => ({
      verbs: [verb],
      apiGroups: [group],
      resources: [resource],
      ...(namespace === undefined ? {} : { namespace }),
      ...(namespace === undefined || verb === "create" ? {} : { resourceNames: [LEASE.name] }),
    })),
  );
}

/** Watches until all facts of the demo's cluster have come: its pods, nodes and namespaces, and the owners of the pods. */
async function watchTheDemo(): Promise<void> {
  // A lease that survives on a busy machine: a new term sends every request again.
  watcher = startTestWatcher(server, bus, { election: ELECTION_TIMING });
  await vi.waitFor(() => {
    expect(sent.workloads.length).toBeGreaterThan(20);
    expect(sent.inventory.length).toBeGreaterThan(5);
    expect(sent.cluster.length).toBeGreaterThan(5);
  }, LONG);
  // Renewals of the lease and repeated requests.
  await new Promise((resolve) => setTimeout(resolve, 500));
}

describe("the permissions of the manifests", () => {
  it("let a watcher send all facts of a cluster, and it makes no request beyond them", async () => {
    allow(neededPermissions(LEASE));
    await watchTheDemo();
    expect(refused).toEqual([]);
    expect(watcher!.log.forbidden).toEqual([]);
    await vi.waitFor(
      () => expect(new Set(sent.workloads.map(({ owners }) => owners.at(-1)?.kind)).size).toBeGreaterThan(4),
      LONG,
    );
  });

  it("are all necessary: without one of them the watcher is refused that one, and nothing else", async () => {
    const isMissing = ({ verb, group, resource }: NeededPermission | AccessAttempt): boolean =>
      verb === "get" && group === "apps" && resource === "replicasets";
    allow(neededPermissions(LEASE).filter((permission) => !isMissing(permission)));
    await watchTheDemo();
    // A refusal is a missing permission after some tries.
    await vi.waitFor(
      () => expect(watcher!.log.forbidden).toMatchObject([{ verb: "get", resource: "replicasets.apps" }]),
      LONG,
    );
    expect(refused.filter((attempt) => !isMissing(attempt))).toEqual([]);

    allow(neededPermissions(LEASE));
    // Within these days each service has a release: new pods, with owners that were not requested yet.
    driver.moveTo(NOON + 4 * 86_400_000);
    await vi.waitFor(
      () => expect(watcher!.log.allowed).toMatchObject([{ verb: "get", resource: "replicasets.apps" }]),
      LONG,
    );
  });
});
