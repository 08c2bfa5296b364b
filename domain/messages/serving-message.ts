import type { ServingOrigin, ServingScrape, ServingShape } from "../serving/scrape.ts";
import type { ServingSeries } from "../serving/series.ts";
import { createMessageDecoder, encodeWithRows, type MessageDecoder } from "./scrape-message.ts";
import { distinctTexts } from "./scrape-shapes.ts";
import { fields, listOf, optional, text, type Shape } from "./shape.ts";
import { object } from "./shapes.ts";

/** The version of a message on `gpu.serving`. The binary format is that of scrapes (`scrape-message.ts`). */
export const SERVING_SCHEMA_VERSION = 1;

/** Encodes the stable part of a target's messages. `rows` are the parts of the rows' JSON, if the caller has them. */
export function encodeServingStable(
  { cluster, node, target, collector, namespace, pod, podUid }: ServingOrigin,
  shape: ServingShape,
  rows: readonly Uint8Array[] = [Buffer.from(shape.series.map((each) => JSON.stringify(each)).join(","))],
): Uint8Array {
  const { exporter, columns } = shape;
  const head = { cluster, node, target, collector, namespace, pod, podUid, exporter, columns };
  return encodeWithRows(head, "series", rows);
}

/** Any text is a kind here, because a later release may have more kinds. */
const series = object<ServingSeries>({
  exporter: text,
  kind: text,
  model: text,
  adapter: optional(text),
  part: optional(text),
  tenant: optional(text),
});

const stableShape: Shape = fields({
  cluster: text,
  node: text,
  target: text,
  collector: text,
  namespace: text,
  pod: text,
  podUid: text,
  exporter: text,
  columns: distinctTexts,
  series: listOf(series),
});

/** Creates a decoder for messages of engines and gateways that caches the stable parts of at most `targets` targets. */
export function createServingDecoder(targets?: number): MessageDecoder<ServingScrape> {
  return createMessageDecoder<ServingOrigin & ServingShape, ServingScrape>({
    shape: stableShape,
    rowsOf: ({ series: rows }) => rows.length,
    messageOf: (stable, attempt) => ({
      cluster: stable.cluster,
      node: stable.node,
      target: stable.target,
      collector: stable.collector,
      namespace: stable.namespace,
      pod: stable.pod,
      podUid: stable.podUid,
      ...attempt,
      shape: stable,
    }),
    targets,
  });
}

/** Returns the key of a scrape on `gpu.serving`: the pod, or the address of a target without one. All scrapes of a pod share a partition. */
export function servingKey({ cluster, namespace, pod, podUid, target }: ServingOrigin): string {
  const identity = podUid !== "" ? [podUid] : pod !== "" ? [namespace, pod] : [target];
  return JSON.stringify([cluster, ...identity]);
}
