import { createPageBuffer } from "../../../demo/exporter/page.ts";
import { createPageRenderer } from "../../../demo/exporter/renderer.ts";
import { exporterPod } from "../../../demo/kubernetes/cluster/exporters.ts";
import { collectedAt, type FleetNode } from "../../../demo/fleet/node.ts";
import { isExporterAway } from "../../../demo/fleet/troubles.ts";
import type { Labels, Recorder } from "./recorder.ts";

/**
 * Scrapes a demo node's exporter, as Prometheus does with the values that are generated for the exporter's chart: `up`, and the series that rules
 * read. A page that fails leaves `up` at 0; a node that is gone leaves nothing.
 */
export function createScrapes(
  node: FleetNode,
  recorder: Recorder,
  isRead: (name: string) => boolean,
): (step: number, timeMillis: number) => void {
  const renderer = createPageRenderer(node);
  const buffer = createPageBuffer();
  /** Keys by a line's text before its value; undefined where no rule reads the series. */
  const keys = new Map<string, string | undefined>();

  function keyOf(text: string, target: Labels): string | undefined {
    const open = text.indexOf("{");
    const name = text.slice(0, open);
    if (!isRead(name)) return undefined;
    const own = [...text.slice(open).matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, value]) => [
      label!,
      value!,
    ]);
    const labels = Object.fromEntries(own.filter(([, value]) => value !== "")) as Labels;
    return recorder.key(name, { ...target, ...labels });
  }

  return (step, timeMillis) => {
    const pod = exporterPod(node, timeMillis, undefined);
    if (pod === undefined) return;
    const { namespace = "", name, labels = {} } = pod.metadata;
    const job = labels["app"] ?? labels["app.kubernetes.io/name"] ?? "";
    const target = { job, instance: `${node.name}:9400`, namespace, pod: name, node: node.name };
    const isAway = isExporterAway(node, timeMillis);
    recorder.add(recorder.key("up", target), step, isAway ? 0 : 1);
    if (isAway) return;
    for (const line of renderer.render(collectedAt(node, timeMillis), buffer).toString().split("\n")) {
      const end = line.lastIndexOf(" ");
      if (end < 0 || line.startsWith("#")) continue;
      const text = line.slice(0, end);
      if (!keys.has(text)) keys.set(text, keyOf(text, target));
      const key = keys.get(text);
      if (key !== undefined) recorder.add(key, step, Number(line.slice(end + 1)));
    }
  };
}
