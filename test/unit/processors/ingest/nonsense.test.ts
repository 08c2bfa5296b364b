import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ClusterFact } from "../../../../domain/cluster-fact.ts";
import { viewQueue } from "../../../../domain/queue/view.ts";
import { encodeScrape } from "../../../../domain/messages/scrape-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../../../domain/messages/topics.ts";
import { readFact } from "../../../../processors/ingest/facts.ts";
import type { FactListener } from "../../../../processors/ingest/followed-facts.ts";
import { createHoldings } from "../../../../processors/ingest/holdings/holdings.ts";
import { createLivePods } from "../../../../processors/live/pods.ts";
import { createSamplePipeline } from "../../../../processors/ingest/pipeline.ts";
import { createQueueBoard } from "../../../../processors/live/queue-board.ts";
import { createScrapeRowWriter } from "../../../../processors/ingest/scrape-rows.ts";
import { createServingRowWriter } from "../../../../processors/ingest/serving-rows.ts";
import { createServingPipeline } from "../../../../processors/ingest/serving.ts";
import type { EncodedScrape } from "../../../../processors/ingest/steps/decode.ts";
import type { Outcome } from "../../../../processors/ingest/steps/outcome.ts";
import { ownerRules } from "../../../support/owner-rules.ts";
import { inventoryFact, namespaceFact, NOON, workloadFact } from "../../../support/facts.ts";
import { nonsense } from "../../../support/nonsense.ts";
import { rounds } from "../../../support/rounds.ts";

const utf8 = new TextEncoder();
const MOMENT = {
  epoch: 1,
  sequence: 1,
  scrapedAtMillis: NOON,
  intervalMillis: 30_000,
  durationMicros: 900,
  dropped: {},
};
const STABLE = {
  cluster: "test",
  node: "gpu-a",
  target: "http://gpu-a:9400/metrics",
  collector: "c-0",
  exporter: "dcgm-exporter",
  columns: ["gpu_utilization_ratio", "fb_used_bytes", "DCGM_FI_OWN"],
  devices: [
    { gpu: "0", uuid: "GPU-0", model: "NVIDIA H100 80GB HBM3", pod: "train-0", namespace: "ml", container: "main" },
    { gpu: "1", uuid: "GPU-1", instance: "3", profile: "1g.10gb", claim: { name: "c" }, labels: { team: "vision" } },
    { gpu: "1", uuid: "GPU-1", repeatsGpu: true },
  ],
};

const VALUES = [0, 0.5, -1, Number.NaN, 7, 2 ** 53, 1e300, Number.POSITIVE_INFINITY];
const SERVING = {
  cluster: "test",
  node: "gpu-a",
  target: "http://10.0.0.7:8000/metrics",
  collector: "c-0",
  namespace: "chat",
  pod: "qwen-0",
  podUid: "uid-1",
  exporter: "vllm",
  columns: ["prompt_tokens", "queue_us", "kv_cache_ppm", "metric_of_a_later_release"],
  series: [
    { exporter: "vllm", kind: "engine", model: "qwen", part: "0" },
    { exporter: "litellm", kind: "gateway", model: "qwen", tenant: "acme", adapter: "sql" },
    { exporter: "dynamo", kind: "frontend", model: "" },
  ],
};

function messageOf(stable: unknown, event: unknown): Uint8Array {
  const text = JSON.stringify(stable);
  const { columns, devices, series } = (stable ?? {}) as Record<
    "columns" | "devices" | "series",
    unknown[] | undefined
  >;
  const count = (columns?.length ?? 0) * (devices?.length ?? series?.length ?? 0);
  const values = new Float64Array(Number.isSafeInteger(count) && count >= 0 && count < 1000 ? count : 0);
  values.forEach((_, index) => (values[index] = VALUES[index % VALUES.length]!));
  const message = encodeScrape(utf8.encode(text), MOMENT, values);
  if (event === undefined) return message;
  const bytes = utf8.encode(JSON.stringify(event));
  const whole = new Uint8Array([...message, ...bytes]);
  new DataView(whole.buffer).setUint32(4, bytes.length, true);
  return whole;
}

/** All parts of a processor that receive facts. */
function listeners(): { readonly all: readonly FactListener[]; readonly look: () => void } {
  const pods = createLivePods(ownerRules({}), "max", () => NOON);
  const board = createQueueBoard(ownerRules({}), () => NOON);
  return {
    all: [createHoldings(), pods, board],
    look() {
      pods.pods(() => true);
      pods.nodes(() => true);
      viewQueue(board, NOON);
    },
  };
}

const FACTS = [
  {
    topic: WORKLOADS_TOPIC,
    good: workloadFact({
      asks: [
        { kind: "gpu", resource: "nvidia.com/gpu", count: 1 },
        { kind: "mig", resource: "nvidia.com/mig-1g.10gb", profile: "1g.10gb", count: 1 },
        { kind: "vgpu", scheduler: "hami", count: 1, memoryMiB: 1024, coresPercent: 10 },
        { kind: "fraction", count: 1, ppm: 500_000 },
        { kind: "claim", claim: "c" },
      ],
      evidence: [
        { by: "status", uuid: "GPU-0", units: 1, unhealthy: [{ from: NOON, until: NOON + 1 }] },
        { by: "annotation", uuid: "GPU-0", container: 0, memoryMiB: 1024, coresPercent: 10 },
        { by: "group", group: "g" },
        { by: "reservation", group: "g", uuid: "GPU-0" },
      ],
      gang: { kind: "PodGroup", name: "g", size: 2 },
      end: { atMillis: NOON + 1000, inferred: false },
    }),
    take: (listener: FactListener, fact: never) => listener.workload(fact),
  },
  {
    topic: INVENTORY_TOPIC,
    good: inventoryFact({ taints: [{ key: "k", value: "v", effect: "NoSchedule" }] }),
    take: (listener: FactListener, fact: never) => listener.inventory(fact),
  },
  ...[
    namespaceFact(),
    clusterFact("ResourceClaim", {
      devices: [{ driver: "gpu.nvidia.com", pool: "gpu-a", device: "gpu-0", consumed: { memory: 1 } }],
      reservedFor: ["pod-1"],
    }),
    clusterFact("ResourceSlice", {
      driver: "gpu.nvidia.com",
      pool: "gpu-a",
      node: "gpu-a",
      devices: [{ name: "gpu-0", uuid: "GPU-0", capacity: { memory: 2 }, taints: [{ key: "k", since: NOON }] }],
    }),
    clusterFact("Gang", { made: "PodGroup", size: 2, phase: "Running" }),
    clusterFact("Queue", { scheduler: "kueue", quota: { a: 1 }, admitted: {}, borrowed: {}, pending: 0 }),
    clusterFact("ResourceQuota", { hard: { "nvidia.com/gpu": 4 }, used: {} }),
    clusterFact("DeviceTaintRule", { taint: { key: "k" } }),
  ].map((good) => ({
    topic: CLUSTER_TOPIC,
    good,
    take: (listener: FactListener, fact: never) => listener.clusterFact(fact),
  })),
];

function clusterFact(kind: string, body: object): ClusterFact {
  return { ...namespaceFact(), kind, body, resource: "x", name: "c", uid: `uid-${kind}` } as unknown as ClusterFact;
}

describe("a message with invalid content", () => {
  it.each([
    ["a series that is null", { ...SERVING, series: [null, null, null] }],
    ["a series without a model", { ...SERVING, series: [{ exporter: "vllm", kind: "engine" }, {}, {}] }],
    ["a tenant that is a number", { ...SERVING, series: [{ ...SERVING.series[0], tenant: 7 }] }],
    ["no pod", { ...SERVING, pod: undefined }],
    ["a scrape of GPUs", STABLE],
  ])("of an engine is a dead letter: %s", (_, stable) => {
    expect(createServingPipeline()({ value: messageOf(stable, undefined), intact: true })).toMatchObject({
      kind: "dead-letter",
      reason: "not-a-scrape",
    });
  });

  it.each([
    ["a device that is null", { ...STABLE, devices: [null, null, null] }],
    ["a device that is a number", { ...STABLE, devices: [1, 2, 3] }],
    ["a pod that is a list", { ...STABLE, devices: [{ pod: ["a"] }, {}, {}] }],
    ["a column that is not a text", { ...STABLE, columns: [1, 2, 3] }],
    ["a column twice", { ...STABLE, columns: ["a", "a", "b"] }],
    ["no node", { ...STABLE, node: undefined }],
  ])("is a dead letter: %s", (_, stable) => {
    const process = createSamplePipeline(createHoldings());
    expect(process({ value: messageOf(stable, undefined), intact: true })).toMatchObject({
      kind: "dead-letter",
      reason: "not-a-scrape",
    });
  });

  interface Writer<Value> {
    append(value: Value, position: { readonly partition: number; readonly offset: number }): unknown;
    take(): unknown;
  }

  /** Runs messages through a pipeline, up to the rows for the store. Returns the kind of the outcome. */
  const taker =
    <Value>(pipeline: (message: EncodedScrape) => Outcome<Value>, writer: Writer<Value>) =>
    (value: Uint8Array): string => {
      const outcome = pipeline({ value, intact: true });
      if (outcome.kind !== "ok") return outcome.kind;
      writer.append(outcome.value, { partition: 0, offset: 1 });
      writer.take();
      return "ok";
    };
  const TAKERS = [
    {
      kind: "a scrape of GPUs",
      stable: STABLE,
      create: () => taker(createSamplePipeline(createHoldings()), createScrapeRowWriter()),
    },
    {
      kind: "a scrape of engines and gateways",
      stable: SERVING,
      create: () => taker(createServingPipeline(), createServingRowWriter()),
    },
  ];

  it.each(TAKERS)("is a dead letter, or $kind that can be stored", ({ stable: good, create }) => {
    const take = create();
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(
        nonsense(good),
        fc.option(nonsense({ failure: { reason: "timeout", detail: "late" }, dropped: { sentinel: 1 } }), {
          nil: undefined,
        }),
        (stable, event) => void outcomes.add(take(messageOf(stable, event))),
      ),
      { numRuns: rounds(20_000) },
    );
    expect([...outcomes].toSorted()).toEqual(["dead-letter", "ok"]);
  });

  it.each(TAKERS)("is a dead letter, or $kind, if its bytes are damaged", ({ stable, create }) => {
    const take = create();
    const good = messageOf(stable, { dropped: { sentinel: 1 } });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        fc.nat(good.length),
        fc.boolean(),
        (changes, length, isCut) => {
          const bytes = new Uint8Array(good);
          for (const [at, byte] of changes) bytes[at] = byte;
          take(isCut ? bytes.subarray(0, length) : bytes);
        },
      ),
      { numRuns: rounds(20_000) },
    );
  });

  it.each(FACTS)(
    "is a dead letter, or a fact that every listener accepts: $topic $good.kind",
    ({ topic, good, take }) => {
      const outcomes = new Set<string>();
      fc.assert(
        fc.property(nonsense(good), (odd) => {
          const value = utf8.encode(JSON.stringify(odd));
          const outcome = readFact({ topic, value, intact: true });
          outcomes.add(outcome.kind);
          if (outcome.kind !== "ok") return;
          const { all, look } = listeners();
          for (const listener of all) {
            listener.workload(workloadFact());
            listener.inventory(inventoryFact());
            take(listener, JSON.parse(String(outcome.value.row["fact"])) as never);
          }
          look();
        }),
        { numRuns: rounds(5_000) },
      );
      expect([...outcomes].toSorted()).toEqual(["dead-letter", "ok"]);
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
  );
});
