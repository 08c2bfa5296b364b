import fc from "fast-check";
import { scenarioSchema } from "../../../scenarios/schema.ts";
import type { Scenario } from "../../../scenarios/files.ts";
import { MINUTE_MILLIS as MINUTE } from "../../../domain/time.ts";

const START = Date.UTC(2026, 2, 2);
const time = (minutes: number): string => new Date(START + Math.round(minutes * MINUTE)).toISOString();

/** Minutes within two and a half hours, sometimes with a second and a millisecond more. */
const moment = fc
  .tuple(fc.integer({ min: 0, max: 149 }), fc.constantFrom(0, 0, 0.5, 1 / 60, 1 / 60_000))
  .map(([minute, more]) => minute + more);
const span = fc
  .tuple(moment, moment)
  .map(([a, b]) => ({ from: time(Math.min(a, b)), until: time(Math.max(a, b) + 0.01) }));

const node = (name: string) =>
  fc.record({
    name: fc.constant(name),
    model: fc.constantFrom("NVIDIA-L4", "NVIDIA-A100-SXM4-40GB"),
    gpus: fc.constant(2),
    pool: fc.constantFrom("big", "small", "own"),
    idleWatts: fc.constantFrom(undefined, 55),
    energyCounter: fc.constantFrom(true, true, false),
    sharing: fc.constantFrom({ strategy: "none" }, { strategy: "time-slicing", replicas: 3 }),
    // With two XIDs at once, an exporter shows only the later one.
    unavailable: fc.uniqueArray(
      fc
        .tuple(span, fc.constantFrom("xid-79", "cordoned", "not-ready"), fc.nat(1))
        .map(([within, because, gpu]) => ({ ...within, because, ...(because === "xid-79" ? { gpus: [gpu] } : {}) })),
      { maxLength: 2, selector: ({ because }) => because },
    ),
    telemetryGaps: fc.array(span, { maxLength: 2 }),
  });

const activity = fc.oneof(
  fc.constant(undefined),
  fc.integer({ min: 0, max: 1000 }).map((mille) => mille / 1000),
);

const pod = (index: number) =>
  fc
    .record({
      node: fc.constantFrom("gpu-a", "gpu-b"),
      namespace: fc.constantFrom("vision", "nlp"),
      life: fc.tuple(moment, moment),
      wait: fc.constantFrom(0, 0, 0.25, 7),
      kind: fc.constantFrom("whole", "whole", "fraction", "common"),
      device: fc.nat(1),
      activity,
      isGang: fc.constantFrom(false, false, true),
      watts: fc.constantFrom(undefined, 71, 333),
    })
    .map(({ node: host, namespace, life, wait, kind, device, activity: ratio, isGang, watts }) => {
      const [from, until] = [Math.min(...life), Math.max(...life) + 0.02];
      const holds = kind === "fraction" ? { fraction: 0.3 } : { gpus: 1 };
      return {
        name: `pod-${index}`,
        namespace,
        node: host,
        holds,
        ...(kind === "common" ? {} : { devices: [device] }),
        scheduled: time(from),
        started: time(Math.min(until, from + wait)),
        finished: time(until),
        ...(ratio === undefined ? {} : { activity: ratio }),
        ...(watts === undefined ? {} : { powerWatts: watts }),
        ...(isGang ? { gang: { group: `of-${namespace}`, size: 2 } } : {}),
      };
    });

const price = fc.record({ text: fc.integer({ min: 0, max: 99_999_999 }), change: moment }).map(({ text, change }) => {
  const amount = (cents: number): string => (cents / 1e4).toFixed(4);
  return [
    { match: {}, from: "2026-01-01", until: time(change), per: "gpu-hour", effective: amount(text) },
    { match: {}, from: time(change), per: "gpu-hour", effective: amount(text + 12_345) },
    { match: { pool: "small" }, from: "2026-01-01", per: "node-hour", effective: amount(text + 7), gpuPart: "0.9" },
    { match: { pool: "own" }, from: "2026-01-01", currency: "EUR", owned: OWNED },
  ];
});

const OWNED = {
  inService: "2026-01-15",
  purchase: "250000",
  months: 48,
  kWhPrice: "0.1234",
  pue: "1.37",
  watts: 1301,
  retired: time(121),
};

/** Fleets of two nodes for two and a half hours, with everything that cuts, shares, hides and breaks GPUs. */
export const randomScenario: fc.Arbitrary<Scenario> = fc
  .record({
    nodes: fc.tuple(node("gpu-a"), node("gpu-b")),
    pods: fc.tuple(...Array.from({ length: 5 }, (_, index) => pod(index))),
    prices: price,
    scrapeInterval: fc.constantFrom("30s", "1m"),
    changes: fc.tuple(moment, moment),
  })
  .map(({ nodes, pods, prices, scrapeInterval, changes: [ofRate, ofGrams] }) =>
    scenarioSchema.parse({
      title: "a random fleet",
      period: { start: time(0), end: time(150) },
      scrapeInterval,
      nodes,
      pods: pods.map((one) =>
        asExported(
          nodes.find(({ name }) => name === one.node)!,
          one,
        ),
      ),
      prices,
      rates: [
        { from: "2026-01-01", currency: "EUR", rate: "1.0801" },
        { from: time(ofRate), currency: "EUR", rate: "1.0913" },
      ],
      energy: {
        pue: "1.19",
        gramsPerKWh: [
          { from: "2026-01-01", grams: "381.7" },
          { from: time(ofGrams), grams: "97.03" },
        ],
      },
      namespaces: { vision: { labels: { team: "vision" } }, nlp: { labels: { team: "nlp" } } },
      owners: {
        team: [{ namespaceLabel: "team" }, { pool: "own", value: "infra" }],
        costCenter: [{ pool: "own", value: "7" }],
      },
      policies: [
        { name: "default", billing: true },
        { name: "owners", payers: { unallocated: "owner", unavailable: "owner" } },
        { name: "usage", basis: "usage" },
        { name: "occupants", sharedBy: "occupant" },
        {
          name: "spread",
          payers: { unallocated: "spread", unavailable: "spread" },
          spread: { over: "cluster", by: "time" },
        },
        { name: "evenly", payers: { unallocated: "spread" }, spread: { over: "pool", by: "even", window: "day" } },
      ],
    }),
  )
  .filter(isDetermined);

/**
 * True if a scenario determines what the exporter shows. The ledger ends an XID when a later pod is active, but the XID goes on in the scenario's
 * text. There the text puts no pod without known devices on such a GPU, because it does not define what the exporter shows of that GPU.
 */
function isDetermined({ nodes, pods }: Scenario): boolean {
  return nodes.every(({ name, unavailable }) => {
    const here = pods.filter(({ node: host }) => host === name);
    const isVague = here.some(({ devices }) => devices === undefined);
    const faults = unavailable.filter(({ because }) => because.startsWith("xid-"));
    return !isVague || !faults.some((fault) => here.some((one) => isBoundUnder(one, fault)));
  });
}

function isBoundUnder(
  { devices = [], scheduled }: Scenario["pods"][number],
  { gpus = [], from = -Infinity, until = Infinity }: Scenario["nodes"][number]["unavailable"][number],
): boolean {
  const isThere = devices.some((device) => typeof device === "number" && gpus.includes(device));
  return isThere && typeof scheduled === "number" && from < scheduled && scheduled < until;
}

type DrawnNode = { readonly sharing: { strategy: string }; readonly unavailable: readonly { because: string }[] };
type DrawnPod = { readonly holds: object; readonly devices?: readonly number[]; readonly activity?: number };

/**
 * A pod in a form that exporters can show. Where GPUs are time-sliced, all pods have replicas. A pod without known devices has no activity on a node
 * with an XID, because the device on which it is active cannot be determined.
 */
function asExported<Pod extends DrawnPod>({ sharing, unavailable }: DrawnNode, pod: Pod): object {
  const holds = sharing.strategy === "none" ? pod.holds : { replicas: 1 };
  const { activity, ...rest } = pod;
  const isVague = pod.devices === undefined && unavailable.some(({ because }) => because.startsWith("xid-"));
  return { ...rest, holds, ...(activity === undefined || isVague ? {} : { activity }) };
}
