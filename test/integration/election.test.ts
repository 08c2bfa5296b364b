import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createApiConnection, type ApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import { startElection, type WatchTerm } from "../../collectors/kubernetes/api/election.ts";
import { createLease, LEASES } from "../../collectors/kubernetes/api/lease.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { systemClock } from "../../runtime/clock.ts";

const TIMING = { durationMillis: 1_000, giveUpMillis: 600, renewMillis: 50 };
const LONG = { timeout: 90_000, interval: 10 };
const NAME = { namespace: "gpu-ledger", name: "watcher" };

let server: ApiServer;
const candidates: Candidate[] = [];

interface Held {
  readonly by: string;
  readonly epoch: number;
  readonly from: number;
  until: number | undefined;
}
const terms: Held[] = [];

interface Candidate {
  readonly identity: string;
  readonly errors: unknown[];
  readonly api: ApiConnection;
  /** Cuts the connection from now on, like a broken network. */
  cutOff(): void;
  stop(): Promise<void>;
}

beforeEach(async () => {
  terms.length = 0;
  server = await startApiServer();
});
afterEach(async () => {
  await Promise.all(candidates.splice(0).map((candidate) => candidate.stop()));
  await server.stop();
});

function join(
  identity: string,
  {
    lead,
    timing = TIMING,
  }: { readonly lead?: (term: WatchTerm) => Promise<void>; readonly timing?: typeof TIMING } = {},
): Candidate {
  let address = server.url;
  const api = createApiConnection(() => Promise.resolve({ server: address, headers: {}, tls: {} }), systemClock);
  const errors: unknown[] = [];
  const election = startElection({
    lease: createLease(api, { ...NAME, timeoutMillis: 300 }),
    identity,
    clock: systemClock,
    serverNowMillis: () => api.clock.nowMillis(),
    timing,
    events: { onElected: () => {}, onDeposed: () => {}, onAnswered: () => {}, onError: (error) => errors.push(error) },
    async lead(term) {
      const held: Held = { by: identity, epoch: term.epoch, from: performance.now(), until: undefined };
      terms.push(held);
      try {
        if (lead !== undefined) return await lead(term);
        await new Promise<void>((resolve) => term.signal.addEventListener("abort", () => resolve(), { once: true }));
      } finally {
        held.until = performance.now();
      }
    },
  });
  const candidate: Candidate = {
    identity,
    errors,
    api,
    cutOff: () => (address = "http://127.0.0.1:9"),
    async stop() {
      await election.stop();
      api.close();
    },
  };
  candidates.push(candidate);
  return candidate;
}

const leaders = (): string[] => terms.filter(({ until }) => until === undefined).map(({ by }) => by);
const leads = (identity: string): Promise<void> => vi.waitFor(() => expect(leaders()).toEqual([identity]), LONG);

/** Each term ends before the next one begins, and the next one's epoch is higher. */
function expectOneAtATime(): void {
  for (const [index, term] of terms.entries()) {
    const next = terms[index + 1];
    if (next === undefined) continue;
    expect(term.until).toBeLessThanOrEqual(next.from);
    expect(term.epoch).toBeLessThan(next.epoch);
  }
}

describe("the watcher of a cluster", () => {
  it("is one of its candidates, and another one as soon as it stops", async () => {
    // A lease that is not given back would be kept for longer than this test may last.
    const timing = { ...TIMING, durationMillis: 3_600_000 };
    const first = join("a", { timing });
    await leads("a");
    join("b", { timing });
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(leaders()).toEqual(["a"]);
    await first.stop();
    await leads("b");
    expectOneAtATime();
  });

  it("gives up before another candidate may take its place when it is cut off", async () => {
    const first = join("a");
    await leads("a");
    join("b");
    await new Promise((resolve) => setTimeout(resolve, 200));
    const cut = performance.now();
    first.cutOff();
    await leads("b");
    expect(performance.now() - cut).toBeGreaterThan(TIMING.giveUpMillis);
    expectOneAtATime();
  });

  it("stays the leader during passing errors, and after a write whose answer was lost", async () => {
    const only = join("a");
    await leads("a");
    server.troubles.fail({ status: 500 }, 3);
    await vi.waitFor(() => expect(only.errors).toHaveLength(3), LONG);
    server.troubles.cutBodies(0, 1, ({ method }) => method === "PUT");
    await vi.waitFor(() => expect(only.errors.length).toBeGreaterThan(4), LONG);
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(leaders()).toEqual(["a"]);
    expect(terms).toHaveLength(1);
  });

  it("ends its term when another client has written the lease, and when its work fails", async () => {
    let fails = 0;
    join("a", {
      lead: async ({ signal }) => {
        fails += 1;
        if (fails === 1) throw new Error("the work failed");
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      },
    });
    await vi.waitFor(() => expect(fails).toBe(2), LONG);
    server.put({
      apiVersion: "coordination.k8s.io/v1",
      kind: LEASES.kind,
      metadata: { ...NAME, uid: "lease" },
      spec: { holderIdentity: "stranger", leaseDurationSeconds: 1, acquireTime: "2099-01-01T00:00:00.000000Z" },
    });
    await vi.waitFor(() => expect(fails).toBe(3), LONG);
    expectOneAtATime();
    expect(terms[2]!.epoch).toBeGreaterThan(Date.UTC(2099, 0));
  });

  it("has a higher epoch with every term, also when the server's clock goes back", async () => {
    for (let round = 0; round < 3; round++) {
      const candidate = join(`round-${round}`);
      await leads(`round-${round}`);
      await candidate.stop();
      server.troubles.skewClock(-3_600_000 * (round + 1));
    }
    expect(terms).toHaveLength(3);
    expectOneAtATime();
  });

  it("reports that it may not write leases, and leads when it may", async () => {
    server.access.withdraw(LEASES.group, LEASES.plural, "create");
    const candidate = join("a");
    await vi.waitFor(() => expect(candidate.errors.length).toBeGreaterThan(1), LONG);
    expect(candidate.errors[0]).toMatchObject({ code: "forbidden" });
    expect(terms).toEqual([]);
    server.access.restore();
    await leads("a");
  });

  it("changes many times, and is never two candidates at once", async () => {
    const names = ["a", "b", "c"];
    let members = names.map((name) => join(name));
    for (let round = 0; round < 6; round++) {
      await vi.waitFor(() => expect(leaders()).toHaveLength(1), LONG);
      const leader = members.find(({ identity }) => identity === leaders()[0])!;
      if (round % 2 === 0) await leader.stop();
      else leader.cutOff();
      await vi.waitFor(() => expect(leaders()).not.toContain(leader.identity), LONG);
      if (round % 2 === 1) await leader.stop();
      members = [...members.filter((member) => member !== leader), join(`${leader.identity}${round}`)];
    }
    await vi.waitFor(() => expect(leaders()).toHaveLength(1), LONG);
    expect(terms.length).toBeGreaterThanOrEqual(7);
    expectOneAtATime();
  });
});
