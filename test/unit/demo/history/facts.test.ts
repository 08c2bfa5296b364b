import { beforeAll, describe, expect, test } from "vitest";
import { ownerKinds } from "../../../../collectors/kubernetes/owners/kinds.ts";
import { createScrapeDecoder } from "../../../../domain/messages/scrape-message.ts";
import { decodeInventory, decodeWorkload, workloadKey } from "../../../../domain/messages/fact-message.ts";
import { holdingOf, holdsAt } from "../../../../domain/holding.ts";
import type { InventoryFact } from "../../../../domain/inventory.ts";
import type { WorkloadFact } from "../../../../domain/workload.ts";
import { createFleet } from "../../../../demo/fleet/fleet.ts";
import { pastFacts, pastNodes } from "../../../../demo/history/facts.ts";
import type { Range } from "../../../../demo/history/ranges.ts";
import { createPastScrapes } from "../../../../demo/history/scrapes.ts";
import { machineAt } from "../../../../demo/kubernetes/cluster/outages.ts";
import { objectsAt } from "../../../../demo/kubernetes/cluster/objects.ts";
import type { OutgoingMessage } from "../../../../runtime/bus/bus.ts";
import { podsOf } from "../../../support/cluster-objects.ts";
import { rounds } from "../../../support/rounds.ts";
import { DAY_MILLIS as DAY, MINUTE_MILLIS as MINUTE } from "../../../../domain/time.ts";

const NOW = Date.UTC(2026, 5, 9, 12, 0, 10);
const WEEK: Range = [NOW - 7 * DAY, NOW];
const projection = { pods: { kinds: ownerKinds(), labels: ["team"] }, nodes: {} };
const fleet = createFleet({ seed: 1, gpus: 96, cluster: "test" });

async function messagesOf(past: Range, of = fleet): Promise<readonly OutgoingMessage[]> {
  const messages: OutgoingMessage[] = [];
  for await (const some of pastFacts(of, past, projection)) messages.push(...some);
  return messages;
}

function factOf({ key, value }: OutgoingMessage): WorkloadFact {
  const fact = decodeWorkload(value!);
  if ("invalid" in fact) throw new Error(fact.invalid);
  expect(key).toBe(workloadKey(fact));
  return fact;
}

function grouped(all: readonly WorkloadFact[], keyOf: (fact: WorkloadFact) => string): Map<string, WorkloadFact[]> {
  const groups = new Map<string, WorkloadFact[]>();
  for (const fact of all) {
    const group = groups.get(keyOf(fact));
    if (group === undefined) groups.set(keyOf(fact), [fact]);
    else group.push(fact);
  }
  return groups;
}

let facts: readonly WorkloadFact[];
/** The last fact of each pod. */
let lasts: readonly WorkloadFact[];
beforeAll(async () => {
  facts = (await messagesOf(WEEK)).map(factOf);
  lasts = [...new Map(facts.map((fact) => [fact.uid, fact])).values()];
});

describe("the facts of the past", () => {
  test("include every ended pod that an exporter's page named, for the time of the page", () => {
    const known = grouped(lasts, ({ namespace, name }) => `${namespace}/${name}`);
    const there = new Set(
      podsOf(objectsAt(fleet, NOW)).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    );
    const scrapes = createPastScrapes(2 * MINUTE);
    const decoder = createScrapeDecoder();
    let compared = 0;
    const looks = rounds(80);
    for (let at = WEEK[0] + MINUTE; at < NOW; at += (7 * DAY) / looks) {
      for (const node of fleet.nodes) {
        const scrape = decoder.decode(scrapes.messageAt(node, at).value!);
        if ("invalid" in scrape) throw new Error(scrape.invalid);
        for (const { namespace, pod, podUid } of scrape.shape.devices) {
          if (pod === undefined || there.has(`${namespace}/${pod}`)) continue;
          const alike = known.get(`${namespace}/${pod}`) ?? [];
          // The page is up to half a minute older than its scrape.
          const holders = alike.filter((fact) => [at, at - MINUTE / 2].some((each) => holdsAt(holdingOf(fact)!, each)));
          expect(
            holders.map((fact) => fact.node),
            `${namespace}/${pod} at ${at}`,
          ).toEqual([node.name]);
          expect(holders[0]!.uid).toBe(podUid ?? holders[0]!.uid);
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(18 * looks);
  });

  test("have the workload, its kind and type, and its requests", () => {
    const kinds = new Map(lasts.map(({ workload, type }) => [workload.kind, type]));
    expect(Object.fromEntries(kinds)).toEqual({
      Job: "training",
      JobSet: "training",
      LeaderWorkerSet: "inference",
      PyTorchJob: "training",
      Deployment: "inference",
      Notebook: "notebook",
    });
    for (const { asks, owners, ownersTruncated, labels, type } of lasts) {
      expect(asks).toHaveLength(1);
      expect(owners.length).toBeGreaterThan(0);
      expect(ownersTruncated).toBe(false);
      expect(labels["team"] !== undefined).toBe(type === "training");
    }
    for (const { gang, queue, times } of lasts.filter(({ workload }) => workload.kind === "PyTorchJob")) {
      expect(gang!.size).toBe(2);
      expect(queue).toBeDefined();
      expect(times.finished).toBeDefined();
    }
    for (const { times } of lasts.filter(({ workload }) => workload.kind === "Job")) {
      expect(times.queued).toBeLessThanOrEqual(times.admitted!);
      expect(times.admitted).toBeLessThanOrEqual(times.created);
    }
  });

  test("have each pod from its creation to its end, and no event before its time", () => {
    for (const steps of grouped(facts, ({ uid }) => uid).values()) {
      const ends = steps.filter(({ end }) => end !== undefined);
      expect(ends).toEqual([steps.at(-1)]);
      expect(ends[0]!.end).toEqual({ atMillis: ends[0]!.seenAtMillis, inferred: false });
      expect(ends[0]!.endReason).toBeDefined();
      const seen = steps.map(({ seenAtMillis }) => seenAtMillis);
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      for (const { times, seenAtMillis } of steps) {
        // Without the time of its PodGroup, which is created with the first member of the gang, before the other members.
        const { queued: _, ...own } = times;
        expect(Math.max(...Object.values(own))).toBeLessThanOrEqual(seenAtMillis);
      }
    }
  });

  test("leave out the pods that still exist: the watcher sends those", () => {
    const there = new Set(podsOf(objectsAt(fleet, NOW)).map(({ metadata }) => metadata.uid));
    expect(lasts.filter(({ uid }) => there.has(uid))).toEqual([]);
    expect(lasts.filter(({ end }) => end!.atMillis > NOW)).toEqual([]);
  });

  test("never win over the facts of a watcher", () => {
    expect(new Set(facts.map(({ epoch }) => epoch))).toEqual(new Set([0]));
  });

  test("are the same bytes when they are sent again, and a part of the time gives a part of them", async () => {
    const textOf = ({ value }: OutgoingMessage): string => Buffer.from(value!).toString("utf8");
    const day: Range = [NOW - 3 * DAY, NOW - 2 * DAY];
    const part = (await messagesOf(day)).map(textOf);
    const twin = createFleet({ seed: 1, gpus: 96, cluster: "test" });
    expect((await messagesOf(day, twin)).map(textOf)).toEqual(part);
    expect(part.length).toBeGreaterThan(50);
    const whole = new Set(facts.map((fact) => JSON.stringify(fact)));
    expect(part.filter((text) => !whole.has(text))).toEqual([]);
  });
});

describe("the nodes of the past", () => {
  test("are every machine that left, from its joining to its end", async () => {
    const nodes = (await pastNodes(fleet, WEEK, projection)).map(
      ({ value }) => decodeInventory(value!) as InventoryFact,
    );
    expect(new Set(nodes.map(({ epoch }) => epoch))).toEqual(new Set([0]));
    const uids = new Set<string>();
    for (const node of fleet.nodes)
      for (let at = WEEK[0]; at < NOW; at += 10 * MINUTE) {
        const machine = machineAt(node, at);
        if (machine === undefined || machine.uid === machineAt(node, NOW)!.uid) continue;
        uids.add(machine.uid);
        const own = nodes.filter(({ uid }) => uid === machine.uid);
        expect(own.map((fact) => [fact.node, fact.joined, fact.gpus[0]?.count])).toEqual(
          own.map(() => [node.name, Math.floor(machine.joinedMillis / 1000) * 1000, node.gpus.length]),
        );
        expect(own.at(-1)!.end!.atMillis).toBeGreaterThan(at);
      }
    expect(new Set(nodes.map(({ uid }) => uid))).toEqual(uids);
    expect(uids.size).toBeGreaterThan(5);
  });
});
