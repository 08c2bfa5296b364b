import type { Device } from "../../domain/device.ts";
import type { ScrapeMoment } from "../../domain/messages/scrape-message.ts";
import { SCRAPE_SCHEMA_VERSION, sampleKey } from "../../domain/messages/scrape-message.ts";
import { encodeServingStable, SERVING_SCHEMA_VERSION, servingKey } from "../../domain/messages/serving-message.ts";
import { SAMPLES_TOPIC, SERVING_TOPIC } from "../../domain/messages/topics.ts";
import type { ScrapeOrigin, ScrapeShape } from "../../domain/scrape.ts";
import { EMPTY_SERVING_SHAPE, type ServingOrigin } from "../../domain/serving/scrape.ts";
import type { Steps } from "../../runtime/steps.ts";
import { emptyMessage, failureMessages, type Messages, type PageReader, type PageReading } from "./page/reader.ts";
import type { ServingSource } from "./serving/pages.ts";
import { createTenants, type TenantRules } from "./serving/tenants.ts";
import { nodeOf, type Target } from "./targets/target.ts";

/** The pages of one target: how they are read, and how the messages of its attempts travel. */
export interface TargetPages {
  readonly topic: string;
  readonly schemaVersion: number;
  /** Reads a page in steps, as {@link PageReader}. */
  steps(page: Buffer, complete: boolean): Steps<PageReading>;
  /** Returns the messages of a failed attempt. They have the hosts or the pod of earlier attempts. */
  failed(moment: Omit<ScrapeMoment, "dropped">): Messages;
  /** Returns the key of a message. */
  keyOf(origin: ScrapeOrigin): string;
  /** The unique key of the target's template. */
  readonly template: string;
}

/** The names that all targets of a collector share. */
export interface CollectorNames {
  readonly cluster: string;
  readonly collector: string;
}

/** Returns the pages of a GPU exporter: one message for each host on a page. */
export function gpuPages(reader: PageReader, target: Target, { cluster, collector }: CollectorNames): TargetPages {
  const originOf = (devices: readonly Device[], host: string): ScrapeOrigin => ({
    cluster: target.labels["cluster"] ?? cluster,
    node: host === "" ? nodeOf(target, devices) : host,
    target: target.url,
    collector,
  });
  let origins: readonly ScrapeOrigin[] = [originOf([], "")];
  const source = {
    key: target.url,
    // A page without devices, like a failed scrape, keeps the node of an earlier page.
    origin: ({ devices }: ScrapeShape, host: string) => (devices.length === 0 ? origins[0]! : originOf(devices, host)),
  };
  return {
    topic: SAMPLES_TOPIC,
    schemaVersion: SCRAPE_SCHEMA_VERSION,
    template: source.key,
    keyOf: sampleKey,
    *steps(page, complete) {
      const reading = yield* reader.steps(source, page, complete);
      if ("hosts" in reading && !reading.templated) origins = reading.hosts.map(({ origin }) => origin);
      return reading;
    },
    failed: (moment) => failureMessages(origins, moment),
  };
}

/**
 * Returns the pages of an engine or a gateway: one message for each attempt, with the pod of the target. The pod is the discovered one, or
 * the labels `namespace`, `pod` and `pod_uid`.
 */
export function servingPages(
  reader: PageReader<ServingSource>,
  target: Target,
  { cluster, collector }: CollectorNames,
  rules: TenantRules,
): TargetPages {
  const { labels, pod, url } = target;
  const origin: ServingOrigin = {
    cluster: labels["cluster"] ?? cluster,
    node: labels["node"] ?? pod?.nodeName ?? "",
    target: url,
    collector,
    namespace: labels["namespace"] ?? "",
    pod: labels["pod"] ?? "",
    podUid: pod?.uid ?? labels["pod_uid"] ?? "",
  };
  const empty = encodeServingStable(origin, EMPTY_SERVING_SHAPE);
  const key = servingKey(origin);
  // A job of exporters can have the same address.
  const source = { key: `serving ${url}`, origin, tenants: createTenants(rules, pod && labels["namespace"]) };
  return {
    topic: SERVING_TOPIC,
    schemaVersion: SERVING_SCHEMA_VERSION,
    template: source.key,
    keyOf: () => key,
    steps: (page, complete) => reader.steps(source, page, complete),
    failed: (moment) => [{ origin, message: emptyMessage(empty, moment) }],
  };
}
