import { describe, expect, it } from "vitest";
import { STATE_SERIES } from "../../../../alerts/series/state.ts";
import { parseExposition } from "../../../../collectors/exporters/exposition/parse.ts";
import { createFleet } from "../../../../demo/fleet/fleet.ts";
import { objectsAt } from "../../../../demo/kubernetes/cluster/objects.ts";
import { stateMetricsPage } from "../../../../demo/kubernetes/state-metrics.ts";
import { ofKind } from "../../../support/cluster-objects.ts";

const fleet = createFleet({ seed: 1, gpus: 96 });
const objects = objectsAt(fleet, Date.UTC(2026, 6, 8, 12));
const { samples, families, malformed } = parseExposition(Buffer.from(stateMetricsPage(objects)));
const countOf = (name: string): number => samples.filter((sample) => sample.name === name).length;

describe("the demo's kube-state-metrics", () => {
  it("exports the state of every pod, node and namespace in Prometheus' format, each family once", () => {
    expect(malformed).toEqual([]);
    expect(countOf("kube_pod_info")).toBe(ofKind(objects, "Pod").length);
    expect(countOf("kube_pod_status_phase")).toBe(5 * ofKind(objects, "Pod").length);
    expect(countOf("kube_node_labels")).toBe(ofKind(objects, "Node").length);
    expect(countOf("kube_namespace_labels")).toBe(ofKind(objects, "Namespace").length);
    const order = samples.map(({ name }) => name).filter((name, index, all) => name !== all[index - 1]);
    expect(order).toHaveLength(families.size);
    const keys = samples.map(({ name, labels }) => JSON.stringify([name, ...labels]));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("has the series that rules read, with their labels and kube-state-metrics' types", () => {
    for (const { name, labels } of samples) {
      const own = [...labels.keys()].filter((label) => !label.startsWith("label_"));
      expect([name, STATE_SERIES[name]]).toEqual([
        name,
        expect.arrayContaining(own.filter((label) => label !== "uid")),
      ]);
    }
    const counters = [...families].filter(([, { type }]) => type === "counter").map(([name]) => name);
    expect(counters).toEqual(["kube_pod_container_status_restarts_total"]);
  });

  it("has teams and drivers as labels, which the generated values allow", () => {
    const valuesOf = (name: string, label: string): readonly string[] =>
      samples.flatMap(({ name: each, labels }) => (each === name ? (labels.get(label) ?? []) : []));
    expect(new Set(valuesOf("kube_namespace_labels", "label_team")).size).toBe(5);
    expect(valuesOf("kube_node_labels", "label_nvidia_com_cuda_driver_version_full").length).toBeGreaterThan(5);
  });
});
