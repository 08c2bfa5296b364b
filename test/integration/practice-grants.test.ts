import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClusterFact, ClusterFactBodies } from "../../domain/cluster-fact.ts";
import { encodeClusterFact } from "../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC } from "../../domain/messages/topics.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import { readPractices } from "../../reports/read/practices.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { NOON } from "../support/facts.ts";
import { insertMessages } from "../support/insert-facts.ts";
import { clusterFact } from "../support/practices.ts";
import { FINANCE } from "../support/reports-server.ts";

const CONFIG = parseConfig("", { source: "the test", folder: ".", env: {} });
const gpus = (count: number) => ({ "nvidia.com/gpu": count });

/** The states of an object, each since a number of days. */
function states<Kind extends keyof ClusterFactBodies>(
  kind: Kind,
  name: string,
  bodies: Readonly<Record<number, ClusterFactBodies[Kind]>>,
): readonly ClusterFact[] {
  return Object.entries(bodies).map(([days, body]): ClusterFact => {
    const fact = clusterFact(kind, name, body, kind === "ResourceQuota" ? "ml" : "");
    return { ...fact, resourceVersion: String(1_000 - Number(days)), seenAtMillis: NOON - Number(days) * DAY_MILLIS };
  });
}
const quota = (hard: number, used: number) => ({ hard: gpus(hard), used: gpus(used) });
const queue = (admitted: number): ClusterFactBodies["Queue"] => ({
  scheduler: "kueue",
  parent: "all",
  quota: gpus(8),
  admitted: gpus(admitted),
  borrowed: {},
  pending: 0,
});

describe("the uses of quotas and queues", () => {
  let store: StoreClient;
  beforeAll(async () => {
    store = await createTestDatabase("practice_grants");
    const facts = [
      ...states("Namespace", "ml", { 30: { labels: {}, annotations: {} } }),
      // Used until three days ago, since before the days of the practices.
      ...states("ResourceQuota", "used-before", { 20: quota(8, 1), 10: quota(8, 6), 3: quota(8, 0) }),
      ...states("ResourceQuota", "used-long-ago", { 20: quota(8, 6), 10: quota(8, 1), 3: quota(8, 2) }),
      ...states("ResourceQuota", "new", { 3: quota(8, 0) }),
      ...states("Queue", "busy", { 20: queue(0), 5: queue(8), 1: queue(0) }),
      ...states("Queue", "quiet", { 20: queue(8), 10: queue(0) }),
    ];
    await insertMessages(
      store,
      facts.map((fact) => ({ topic: CLUSTER_TOPIC, value: encodeClusterFact(fact).value })),
    );
  });
  afterAll(() => store.close());

  it("count the state at the beginning of the days and all later ones, of grants that are as old as the days", async () => {
    const findings = await readPractices(store, {
      ledger: ledgerOf(CONFIG),
      practices: CONFIG.practices,
      viewer: FINANCE,
      now: NOON,
      spends: { workloadSpends: [], nodeSpends: [] },
    });
    const texts = findings
      .filter(({ check }) => check.endsWith("unused"))
      .map(({ check, objects }) => [check, ...objects.map(({ name, detail }) => `${name}: ${detail}`)]);
    expect(texts).toEqual([
      ["queue-quota-unused", "quiet: at most 0 of 8 nvidia.com/gpu"],
      ["quota-unused", "used-long-ago: at most 2 of 8 nvidia.com/gpu"],
    ]);
  });
});
