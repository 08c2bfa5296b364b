import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseExposition } from "../../../../collectors/exporters/exposition/parse.ts";
import { createPageReader, messagesOf } from "../../../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../../../collectors/exporters/page/templates.ts";
import { createTargetSeries, type NodeOfPod } from "../../../../collectors/prometheus/target-series.ts";
import { createScrapeDecoder } from "../../../../domain/messages/scrape-message.ts";
import type { Scrape } from "../../../../domain/scrape.ts";

const PAGES = new URL("../../../fixtures/pages/", import.meta.url);
/** One page was written by a Prometheus already. */
const names = readdirSync(PAGES).filter((name) => name.endsWith(".prom") && name !== "dcgm-through-prometheus.prom");
const moment = { epoch: 1, sequence: 2, scrapedAtMillis: 1_760_000_000_000, intervalMillis: 30_000, durationMicros: 0 };

const ADDED = {
  job: "dcgm",
  instance: "10.0.0.7:9400",
  node: "gpu-b",
  namespace: "monitoring",
  pod: "dcgm-exporter-x7k2b",
};
const UP = new Map(Object.entries({ ...ADDED, container: "exporter" }));

/** Returns the labels of a sample as a Prometheus stores them, with or without `honor_labels`. */
function stored(labels: ReadonlyMap<string, string>, isHonored: boolean): ReadonlyMap<string, string> {
  const made = new Map([...labels].filter(([, value]) => value !== ""));
  for (const [label, value] of UP) {
    const own = made.get(label);
    if (own !== undefined && isHonored) continue;
    if (own !== undefined) made.set(`exported_${label}`, own);
    made.set(label, value);
  }
  return made;
}

function throughPrometheus(
  page: Buffer,
  isHonored: boolean,
  nodeOfPod: NodeOfPod = () => undefined,
): readonly Scrape[] {
  const { samples, families } = parseExposition(page);
  const target = createTargetSeries({
    cluster: "prod",
    collector: "one",
    targetLabels: UP,
    nodeOfPod,
    families,
  });
  const numbers = samples.filter(({ value }) => value !== undefined);
  for (const { name, labels } of numbers) target.add({ name, labels: stored(labels, isHonored) });
  const values = Float64Array.from(numbers, ({ value }) => value!);
  return decoded(target.messagesAt(moment, values).map(({ message }) => message));
}

function scraped(page: Buffer): readonly Scrape[] {
  const reader = createPageReader(createTemplates(10_000_000));
  const origin = { cluster: "prod", node: "gpu-b", target: "http://10.0.0.7:9400/metrics", collector: "one" };
  const reading = reader.read({ key: "page", origin: () => origin }, page, true);
  return "failure" in reading ? [] : decoded(messagesOf(reading, moment).map(({ message }) => message));
}

function decoded(messages: readonly Uint8Array[]): readonly Scrape[] {
  const decoder = createScrapeDecoder();
  return messages.map((message) => {
    const scrape = decoder.decode(message);
    if ("invalid" in scrape) throw new TypeError(String(scrape.invalid));
    return scrape;
  });
}

describe("a page that a Prometheus scraped without its series `up`", () => {
  const ofGpu = (gpu: number, holder: Readonly<Record<string, string>>) => ({
    name: "DCGM_FI_DEV_GPU_UTIL",
    labels: new Map(Object.entries({ ...ADDED, gpu: String(gpu), UUID: `GPU-${gpu}`, Hostname: "gpu-b", ...holder })),
  });
  const HOLDER = { exported_namespace: "ml", exported_pod: "train-0", exported_container: "c" };
  const holders = (series: ReturnType<typeof ofGpu>[], isExported: boolean) => {
    const target = createTargetSeries({
      cluster: "prod",
      collector: "one",
      targetLabels: undefined,
      isExported,
      nodeOfPod: () => undefined,
      families: new Map(),
    });
    for (const each of series) target.add(each);
    const [scrape] = decoded(
      target
        .messagesAt(
          moment,
          Float64Array.from(series, () => 5),
        )
        .map(({ message }) => message),
    );
    expect(scrape!.node).toBe("gpu-b");
    return scrape!.shape.devices.map(({ namespace, pod, container }) => [namespace, pod, container]);
  };

  test("has no holder in the exporter's own pod, if any of its series has a renamed one", () => {
    const held = ["ml", "train-0", "c"];
    const nobody = [undefined, undefined, undefined];
    expect(holders([ofGpu(0, HOLDER), ofGpu(1, {})], false)).toEqual([held, nobody]);
    // The series that shows it comes last.
    expect(holders([ofGpu(0, {}), ofGpu(1, HOLDER)], false)).toEqual([nobody, held]);
    // All GPUs are idle, and another target of the job has shown it.
    expect(holders([ofGpu(0, {}), ofGpu(1, {})], true)).toEqual([nobody, nobody]);
  });

  test("has the pod of its series as holder, if none is renamed, as with honor_labels", () => {
    expect(holders([ofGpu(0, { namespace: "ml", pod: "train-0" })], false)).toEqual([["ml", "train-0", undefined]]);
  });
});

describe("a page that a Prometheus scraped", () => {
  test.each(names.flatMap((name) => [[name, true] as const, [name, false] as const]))(
    "%s is the message of the scrape (honor_labels: %s)",
    (name, isHonored) => {
      const page = readFileSync(new URL(name, PAGES));
      const [own, other] = [scraped(page), throughPrometheus(page, isHonored)];
      expect(other.map(({ shape }) => shape)).toEqual(own.map(({ shape }) => shape));
      expect(other.map(({ values }) => [...values])).toEqual(own.map(({ values }) => [...values]));
      expect(other.map(({ node }) => node)).toEqual(own.map(({ node }) => node));
    },
  );

  test("a moment without the series of a pod has no row of the pod", () => {
    const gpu = { gpu: "0", UUID: "GPU-0a1b2c3d-0000-4000-8000-000000000001", job: "dcgm", instance: "10.0.0.7:9400" };
    const target = createTargetSeries({
      cluster: "prod",
      collector: "one",
      targetLabels: undefined,
      nodeOfPod: (pod) => ("ip" in pod && pod.ip === "10.0.0.7" ? "gpu-a" : undefined),
      families: new Map(),
    });
    for (const pod of ["train-0", "train-1"]) {
      const labels = new Map(Object.entries({ ...gpu, exported_namespace: "vision", exported_pod: pod }));
      for (const name of ["DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"]) target.add({ name, labels });
    }
    const at = (...values: number[]): unknown => {
      const scrapes = decoded(target.messagesAt(moment, Float64Array.from(values)).map(({ message }) => message));
      return scrapes.map(({ node, shape, values: cells }) => [node, shape.devices.map(({ pod }) => pod), [...cells]]);
    };
    const none = Number.NaN;
    const first = [["gpu-a", ["train-0"], [0.5, 1_048_576]]];
    expect(at(50, 1, none, none)).toEqual(first);
    expect(at(none, none, 75, 2)).toEqual([["gpu-a", ["train-1"], [0.75, 2_097_152]]]);
    expect(at(none, none, none, none)).toEqual([]);
    expect(at(50, 1, none, none)).toEqual(first);
    // A missing value of a device that is still there is a missing cell.
    expect(at(50, none, none, none)).toEqual([["gpu-a", ["train-0"], [0.5, none]]]);
  });
});
