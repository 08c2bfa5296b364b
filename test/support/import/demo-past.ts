import { createPageBuffer } from "../../../demo/exporter/page.ts";
import { createPageRenderer, type PageRenderer } from "../../../demo/exporter/renderer.ts";
import { createFleet, type Fleet } from "../../../demo/fleet/fleet.ts";
import { collectedAt, type FleetNode } from "../../../demo/fleet/node.ts";
import { isExporterAway } from "../../../demo/fleet/troubles.ts";
import { createPastScrapes } from "../../../demo/history/scrapes.ts";
import { exporterPod } from "../../../demo/kubernetes/cluster/exporters.ts";
import { objectsAt } from "../../../demo/kubernetes/cluster/objects.ts";
import type { KubernetesObject } from "../../../demo/kubernetes/server/object.ts";
import { SAMPLES_TOPIC } from "../../../domain/messages/topics.ts";
import type { DatedObject } from "../../../scenarios/files.ts";
import type { PlayedMessage } from "../../../scenarios/play/message.ts";
import { objectFacts } from "../../../scenarios/play/object-facts.ts";
import { kubeStatePage, type StatePageOptions } from "../kube-state-metrics.ts";
import type { ScrapedPrometheus, ScrapedTarget } from "./scraped-prometheus.ts";

const INTERVAL_MILLIS = 30_000;
/** How often the watcher's double looks at the objects. */
const WATCH_MILLIS = 15_000;
/** The interval in which kube-state-metrics is scraped. */
export const STATE_MILLIS = 60_000;
const FLUSH_MILLIS = 600_000;

/** A time of the demo's fleet as its collectors saw it, and as a Prometheus scraped it. */
export interface DemoPast {
  readonly fleet: Fleet;
  /** The messages of collectors that scraped the fleet's exporters and watched its cluster. */
  readonly collected: readonly PlayedMessage[];
}

/** Plays a time of the demo's fleet into a Prometheus. Returns the messages of collectors that saw the same. */
export async function playDemo(
  prometheus: ScrapedPrometheus,
  { fromMillis, untilMillis }: { readonly fromMillis: number; readonly untilMillis: number },
  { gpus = 96, state = {} }: { readonly gpus?: number; readonly state?: StatePageOptions } = {},
): Promise<DemoPast> {
  const fleet = createFleet({ seed: 1, gpus, cluster: "demo" });
  const past = createPastScrapes(INTERVAL_MILLIS);
  const buffer = createPageBuffer();
  const renderers = new Map<FleetNode, PageRenderer>(fleet.nodes.map((node) => [node, createPageRenderer(node)]));
  const targets = new Map<FleetNode, ScrapedTarget>();
  const kubeState: ScrapedTarget = {
    labels: {
      job: "kube-state-metrics",
      instance: "10.9.0.1:8080",
      namespace: "monitoring",
      pod: "ksm-0",
      container: "ksm",
    },
    honorLabels: true,
  };
  const scrapes: PlayedMessage[] = [];
  for (let at = fromMillis; at < untilMillis; at += INTERVAL_MILLIS) {
    if ((at - fromMillis) % STATE_MILLIS === 0)
      prometheus.scrape(kubeState, at, kubeStatePage(objectsAt(fleet, at), state));
    for (const [index, node] of fleet.nodes.entries()) {
      const scrapedAt = at + 500 + ((index * 1_370) % 29_000);
      const pod = exporterPod(node, scrapedAt, undefined);
      if (pod === undefined || scrapedAt >= untilMillis) continue;
      const target = targets.get(node) ?? targetOf(node, pod);
      targets.set(node, target);
      const isAway = isExporterAway(node, scrapedAt);
      const page = isAway ? undefined : renderers.get(node)!.render(collectedAt(node, scrapedAt), buffer);
      prometheus.scrape(target, scrapedAt, page);
      const { key, value, schemaVersion } = past.messageAt(node, scrapedAt);
      scrapes.push({ topic: SAMPLES_TOPIC, atMillis: scrapedAt, key, value: value!, schemaVersion });
    }
    if ((at - fromMillis) % FLUSH_MILLIS === FLUSH_MILLIS - INTERVAL_MILLIS) await prometheus.flush();
  }
  await prometheus.flush();
  const objects = changes(fleet, fromMillis, untilMillis);
  const { messages } = objectFacts({ cluster: fleet.cluster, objects, resourceNames: new Map() }, fromMillis);
  return { fleet, collected: [...messages, ...scrapes] };
}

/** Returns the target of a node's exporter with the labels that kube-prometheus adds. */
function targetOf(node: FleetNode, pod: KubernetesObject): ScrapedTarget {
  const { metadata, spec, status } = pod as KubernetesObject & {
    readonly spec: { readonly containers: readonly { readonly name: string }[] };
    readonly status: { readonly podIP: string };
  };
  return {
    labels: {
      job: node.make.exporter,
      instance: `${status.podIP}:9400`,
      namespace: metadata.namespace ?? "",
      pod: metadata.name ?? "",
      container: spec.containers[0]!.name,
      endpoint: "metrics",
    },
    honorLabels: false,
  };
}

/** Returns the objects of the fleet's cluster at each time at which a watcher's double saw a change. */
function changes(fleet: Fleet, fromMillis: number, untilMillis: number): readonly DatedObject[] {
  const found: DatedObject[] = [];
  let known = new Map<string, { readonly object: KubernetesObject; readonly text: string }>();
  for (let atMillis = fromMillis; atMillis < untilMillis; atMillis += WATCH_MILLIS) {
    const now = new Map<string, { readonly object: KubernetesObject; readonly text: string }>();
    for (const object of objectsAt(fleet, atMillis)) {
      const key = object.metadata.uid;
      const text = JSON.stringify(object);
      now.set(key, { object, text });
      if (known.get(key)?.text !== text) found.push({ atMillis, object });
    }
    for (const [key, { object }] of known) if (!now.has(key)) found.push({ atMillis, object, isGone: true });
    known = now;
  }
  return found;
}
