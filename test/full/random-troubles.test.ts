import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";
import { roll } from "../../demo/fleet/hash.ts";
import type { KubernetesObject } from "../../demo/kubernetes/server/object.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { compareFacts, type FactEnd, type FactOrigin } from "../../domain/fact.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import { createRandomTroubles, TROUBLED_GROUP } from "../support/kubernetes/random-troubles.ts";
import { openTestBus } from "../support/pipeline.ts";
import { followFacts, startTestWatcher, type SentFacts } from "../support/watcher.ts";

const SEED = Number(process.env["TROUBLES_SEED"] ?? Date.now() % 1_000_000);
const STEPS = 600;
const PODS = 40;
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function pod(index: number, phase: string): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `pod-${index}`, namespace: "ml", uid: `uid-${index}`, creationTimestamp: "2026-05-01T12:00:00Z" },
    spec: { nodeName: "gpu-a", containers: [{ name: "main", resources: { limits: { "nvidia.com/gpu": "1" } } }] },
    status: { phase },
  } as KubernetesObject;
}

function podGroup(index: number, version: string, size: number): KubernetesObject {
  return {
    apiVersion: `${TROUBLED_GROUP}/${version}`,
    kind: "PodGroup",
    metadata: { name: `gang-${index}`, namespace: "ml", uid: `uid-of-gang-${index}` },
    spec: { minMember: size },
    status: { phase: "Running" },
  } as KubernetesObject;
}

/** An object of the server: the compared fields. */
interface Truth {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly minMember: number };
  readonly status: { readonly phase: string };
}

type AnyFact = FactOrigin & { readonly uid: string; readonly end?: FactEnd };

/** A short text for the newest fact of each object, by the order of facts; ended objects are left out. */
function held<Fact extends AnyFact>(facts: readonly Fact[], word: (fact: Fact) => string): readonly string[] {
  const newest = new Map<string, Fact>();
  for (const fact of facts) {
    const former = newest.get(fact.uid);
    if (former === undefined || compareFacts(fact, former) > 0) newest.set(fact.uid, fact);
  }
  return [...newest.values()].flatMap((fact) => (fact.end === undefined ? [word(fact)] : [])).toSorted();
}

it(`a watcher ends with facts equal to the truth, for any troubles of an API server (seed ${SEED})`, async () => {
  const server: ApiServer = await startApiServer({ bookmarkMillis: 50 });
  cleanups.push(() => server.stop());
  const { bus, close }: { bus: Bus; close: () => Promise<void> } = await openTestBus();
  cleanups.push(close);
  const sent: SentFacts = await followFacts(bus);
  cleanups.push(() => sent.close());
  const watcher = startTestWatcher(server, bus, {});
  cleanups.push(() => watcher.stop());

  let rolls = 0;
  const chance = (): number => roll(SEED, (rolls += 1));
  const upTo = (most: number): number => Math.floor(chance() * most);
  const troubles = createRandomTroubles(server, chance);

  const withVersion = (change: (version: string) => void): void => {
    const version = troubles.servedVersion();
    if (version !== undefined) change(version);
  };
  const changes: readonly (() => void)[] = [
    () => server.put(pod(upTo(PODS), ["Pending", "Running", "Failed"][upTo(3)]!)),
    () => server.put(pod(upTo(PODS), "Running")),
    () => server.delete(pod(upTo(PODS), "")),
    () => withVersion((version) => server.put(podGroup(upTo(5), version, 1 + upTo(8)))),
    () => withVersion((version) => server.delete(podGroup(upTo(5), version, 1))),
  ];
  for (let step = 0; step < STEPS; step++) {
    changes[upTo(changes.length)]!();
    if (chance() < 0.25) await troubles.makeOne();
    await delay(upTo(200));
  }
  await troubles.settle();
  process.stdout.write(
    `random troubles, seed ${SEED}: ${[...troubles.counts].map(([name, count]) => `${name} ${count}`).join(", ")}\n`,
  );

  const truth = (id: string, word: (object: Truth) => string): readonly string[] => {
    const { keys, get } = server.store.snapshot(id, server.store.resourceVersion);
    return keys.map((key) => word(JSON.parse(get(key)!.object.json("1")) as Truth)).toSorted();
  };
  expect(server.store.count("pods")).toBeGreaterThan(0);
  await vi.waitFor(
    () => {
      expect(held(sent.workloads, ({ name, phase }) => `${name} ${phase}`)).toEqual(
        truth("pods", ({ metadata, status }) => `${metadata.name} ${status.phase}`),
      );
      expect(
        held(
          sent.cluster.filter((fact) => fact.kind === "Gang"),
          ({ name, body }) => `${name} ${body.size}`,
        ),
      ).toEqual(truth(`${TROUBLED_GROUP}/podgroups`, ({ metadata, spec }) => `${metadata.name} ${spec.minMember}`));
    },
    { timeout: 60_000, interval: 100 },
  );
  await vi.waitFor(() => expect(watcher.watcher.state()).toMatchObject({ missing: [], failure: undefined }), 60_000);
});
