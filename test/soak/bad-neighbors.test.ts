import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { roll } from "../../demo/fleet/hash.ts";
import {
  FLOODED,
  startFloodingSender,
  startHoldingClient,
  startHostileTarget,
  startPoisonProducer,
  type FloodingSender,
  type HoldingClient,
  type HostileTarget,
  type PoisonProducer,
} from "../support/bad-neighbors.ts";
import { prepareKafka } from "../support/kafka-broker.ts";
import { TROUBLED_GROUP } from "../support/kubernetes/random-troubles.ts";
import { followMemory, type MemoryOfParts } from "../support/memory-quarters.ts";
import { requirePart } from "../support/parts.ts";
import { freePort } from "../support/ports.ts";
import { startStack, type Stack } from "../support/stack.ts";
import {
  chargedHours,
  expectChargesToAddUp,
  expectMetricsToBeRight,
  expectNothingLost,
  expectProgramsToRun,
} from "../support/stack-truths.ts";
import { startTroubledCluster, type TroubledCluster } from "../support/troubled-cluster.ts";
import { MINUTE_MILLIS as MINUTE } from "../../domain/time.ts";

const hasParts = requirePart("prometheus") && requirePart("alertmanager") && (await prepareKafka());
const SEED = Number(process.env["TROUBLES_SEED"] ?? Date.now() % 1_000_000);
/** Stages last as long as alerts need; fewer minutes are for a trial. */
const PACE = Number(process.env["SOAK_MINUTES"] ?? 120) / 120;
const PAST_HOURS = 6;
const HOSTILE_BYTES = 4_000_000;
const MOST_SECONDS = 10;
const POISON_EVERY_MILLIS = 2_000;
const FLOOD_EVERY_MILLIS = 250;
/** More than a port permits one address. */
const HELD_CONNECTIONS = 700;
const LIVE = `SELECT concat(uid, ' ', argMax(phase, order), ' ', argMax(node, order)) AS pod
  FROM (SELECT *, (epoch, version, ended, seen_at) AS order FROM workload_facts)
  WHERE cluster = 'demo' GROUP BY uid HAVING argMax(ended, order) = 0 ORDER BY pod`;

/** Two hours of the stack beside bad neighbors: `npm run test:soak`. */
describe.skipIf(!hasParts)(`the stack of docker-compose.yml beside bad neighbors (seed ${SEED})`, () => {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-neighbors-"));
  let rolls = 0;
  const chance = (): number => roll(SEED, (rolls += 1));
  let stack: Stack;
  let cluster: TroubledCluster;
  let hostile: HostileTarget;
  let poison: PoisonProducer;
  let flood: FloodingSender;
  let holding: HoldingClient;
  let memory: MemoryOfParts;
  let startedAt: number;
  /** Stages in which a hundredth of the scrapes were available to queries too late. */
  const late: string[] = [];

  beforeAll(async () => {
    hostile = await startHostileTarget(HOSTILE_BYTES);
    const receiver = `127.0.0.1:${await freePort()}`;
    stack = await startStack({
      steady: true,
      history: `${PAST_HOURS}h`,
      async surround(demo, data, metricsToken) {
        cluster = await startTroubledCluster({ folder, chance, exporters: await exportersOf(demo, metricsToken) });
        return {
          [join(data, "demo-kubeconfig.json")]: cluster.kubeconfig,
          "  jobs:\n": `  remoteWrite: { listen: "${receiver}" }\n  jobs:\n    - { name: hostile, targets: ["${hostile.url}"] }\n`,
        };
      },
    });
    poison = await startPoisonProducer(stack.broker.address, POISON_EVERY_MILLIS);
    flood = startFloodingSender(`http://${receiver}/api/v1/write`, FLOOD_EVERY_MILLIS);
    const programs = (["collect", "process", "process-2", "serve"] as const).map((name) => stack.program(name).url);
    holding = startHoldingClient(
      [`http://${receiver}`, ...programs].map((url) => Number(new URL(url).port)),
      HELD_CONNECTIONS,
    );
    await vi.waitUntil(async () => (await chargedHours(stack)) >= PAST_HOURS, {
      timeout: 15 * MINUTE,
      interval: 5_000,
    });
    startedAt = Date.now();
    memory = followMemory(stack);
  }, 20 * MINUTE);
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await poison?.stop();
    await flood?.stop();
    await holding?.stop();
    await stack?.stop();
    await cluster?.stop();
    await hostile?.stop();
  });

  /** Runs a part of the soak for some minutes, then prints the freshness of the samples, and the firing alerts. */
  async function run(
    name: string,
    minutes: number,
    step: () => Promise<void> = () => pause(10_000),
  ): Promise<readonly string[]> {
    const from = Date.now();
    const until = from + minutes * PACE * MINUTE;
    let measuredAt = from;
    while (Date.now() < until) {
      await step();
      if (Date.now() - measuredAt < PACE * MINUTE) continue;
      measuredAt = Date.now();
      memory.measure();
    }
    expectProgramsToRun(stack);
    const firing = (await stack.prometheus.alerts())
      .filter(({ state, labels }) => state === "firing" && labels["alertname"]!.startsWith("GPULedger"))
      .map(({ labels }) => labels["alertname"]!);
    const alerts = [...new Set(firing)].toSorted();
    const seconds = await freshness(Math.ceil((Date.now() - from) / 1000));
    process.stdout.write(
      `${new Date().toISOString()} ${name}: ${minutes} min, freshness p50 ${seconds[0]} s, p99 ${seconds[1]} s, firing: ${alerts.join(", ") || "none"}\n`,
    );
    if (Number(seconds[1]) >= MOST_SECONDS) late.push(`${name}: ${seconds[1]} s`);
    return alerts;
  }

  async function freshness(seconds: number): Promise<readonly string[]> {
    const ages = `sum by (le) (increase(gpu_ledger_freshness_seconds_bucket{job=~".*gpu-ledger.*"}[${seconds}s]))`;
    return Promise.all(
      [0.5, 0.99].map(async (share) => {
        const [answer] = await stack.prometheus.query(`histogram_quantile(${share}, ${ages})`);
        return Number(answer!.values[0]![1]).toFixed(1);
      }),
    );
  }

  /** Expects that the store's newest facts of pods are the API server's pods. */
  async function expectFactsToBeTrue(): Promise<void> {
    await cluster.settle();
    const known = async (): Promise<unknown> => (await stack.store.query<{ pod: string }>(LIVE)).map(({ pod }) => pod);
    await vi.waitFor(async () => expect(await known()).toEqual(cluster.gpuPods()), {
      timeout: 3 * MINUTE,
      interval: 1_000,
    });
  }

  it("is right without any trouble", async () => {
    expect(await run("quiet", 6)).toEqual([]);
    await expectFactsToBeTrue();
  });

  it("stays fresh beside hostile pages, poison messages and random troubles of the API server", async () => {
    for (const neighbor of [hostile, poison, flood, holding]) neighbor.setActive(true);
    const alerts = await run("random troubles", 18, randomTrouble);
    expect(alerts).toEqual(expect.arrayContaining(["GPULedgerDeadLetters", "GPULedgerScrapesFailing"]));
    await expectFactsToBeTrue();
  });

  it("reports an API server that returns nothing about pods", async () => {
    cluster.server.troubles.fail({ status: 500 }, Infinity, ({ path }) => path.includes("/pods"));
    cluster.server.endWatches("pods");
    expect(await run("no pods", 18)).toContain("GPULedgerApiServerSilent");
    await expectFactsToBeTrue();
    expect(await run("after it", 4)).not.toContain("GPULedgerApiServerSilent");
  });

  it("reports an API server that is away", async () => {
    await cluster.server.goAway();
    expect(await run("away", 14)).toContain("GPULedgerClusterUnwatched");
    await cluster.server.comeBack();
    await expectFactsToBeTrue();
    expect(await run("after it", 4)).not.toContain("GPULedgerClusterUnwatched");
  });

  it("reports a kind that is no longer served", async () => {
    await run("random troubles", 4, randomTrouble);
    await expectFactsToBeTrue();
    cluster.troubles.withdraw();
    expect(await run("no kind", 15)).toContain("GPULedgerKindGone");
    await expectFactsToBeTrue();
    expect(await run("after it", 4)).not.toContain("GPULedgerKindGone");
  });

  it("stays fresh through more random troubles", async () => {
    await run("random troubles", 15, randomTrouble);
    await expectFactsToBeTrue();
  });

  it("has no alert left when all troubles have ended", async () => {
    for (const neighbor of [hostile, poison, flood, holding]) neighbor.setActive(false);
    const alerts = await run("quiet", 16);
    process.stdout.write(
      `hostile pages ${hostile.pages()}, poison messages ${poison.sent()}, samples of the flood ${flood.sent()}, ` +
        `connections held ${holding.opened()}, troubles of ${TROUBLED_GROUP} and others: ` +
        `${[...cluster.troubles.counts].map(([name, count]) => `${name} ${count}`).join(", ")}\n`,
    );
    expect(alerts).toEqual([]);
  });

  it("has lost nothing, and its charges and metrics are right", async () => {
    await expectNothingLost(stack, startedAt, poison.sent(), 1, FLOODED);
    const kept = await stack.store.query(
      `SELECT max(scrapes) <= 120 AS isBounded, toUInt32(sum(scrapes - moments)) AS twice FROM (
         SELECT count() AS scrapes, uniqExact(scraped_at) AS moments FROM scrapes FINAL
         WHERE node = {node:String} GROUP BY toStartOfMinute(scraped_at)
       )`,
      { node: FLOODED },
    );
    expect(kept).toEqual([{ isBounded: 1, twice: 0 }]);
    await expectChargesToAddUp(stack);
    await expectMetricsToBeRight(stack);
  });

  it("needs no more memory at the end", async () => expect(await memory.growing()).toEqual([]));

  it("was fresh in every stage", () => expect(late).toEqual([]));

  async function randomTrouble(): Promise<void> {
    // A controller that writes an annotation that no rule reads.
    const metadata = { name: "restless", uid: "restless", annotations: { "example.com/seen": String(Date.now()) } };
    cluster.server.put({ apiVersion: "v1", kind: "Namespace", metadata });
    const name = await cluster.troubles.makeOne();
    if (name === "restored") await cluster.settle();
    await pause(2_000 + chance() * 18_000);
  }
});

/** The demo's exporters, from its list of targets for Prometheus. */
async function exportersOf(
  demo: string,
  token: string,
): Promise<readonly { readonly url: string; readonly node: string }[]> {
  const answer = await fetch(`http://${demo}/api/demo/targets`, { headers: { authorization: `Bearer ${token}` } });
  const groups = (await answer.json()) as readonly {
    readonly targets: readonly [string];
    readonly labels: Readonly<Record<string, string>>;
  }[];
  return groups.map(({ targets: [host], labels }) => ({
    url: `${labels["__scheme__"]}://${host}${labels["__metrics_path__"]}`,
    node: labels["node"]!,
  }));
}
