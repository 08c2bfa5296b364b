import { describe, expect, it } from "vitest";
import { EXPORTER_SELECTORS } from "../../../collectors/kubernetes/selectors.ts";
import type { PagePod } from "../../../collectors/kubernetes/pod-target.ts";
import { parseLabelSelector } from "../../../collectors/kubernetes/api/label-selector.ts";
import { createExporterPods, type ExporterPods } from "../../../snapshot/see/exporter-pods.ts";

function pod(
  name: string,
  labels: Readonly<Record<string, string>>,
  more: {
    readonly node?: string;
    readonly port?: number;
    readonly annotations?: Readonly<Record<string, string>>;
  } = {},
): PagePod {
  const { node = "node-1", port, annotations = {} } = more;
  const metadata = { name, namespace: "any", uid: `uid-${name}`, resourceVersion: "1", labels, annotations };
  const containers = [{ ports: port === undefined ? [] : [{ containerPort: port }] }];
  return { metadata, spec: { nodeName: node, containers }, status: { phase: "Running", podIP: "10.0.0.1" } };
}

function taken(...pods: readonly PagePod[]): ExporterPods {
  const set = createExporterPods(EXPORTER_SELECTORS);
  for (const each of pods) set.take(each);
  return set;
}

describe("a label selector", () => {
  it.each([
    ["app=a", { app: "a" }, true],
    ["app==a", { app: "b" }, false],
    ["app=a", {}, false],
    ["app!=a", {}, true],
    ["app in (a, b)", { app: "b" }, true],
    ["app in (a,b)", { app: "c" }, false],
    ["app notin (a,b)", {}, true],
    ["app in (a,b),tier=x", { app: "a", tier: "y" }, false],
    ["app", { app: "" }, true],
    ["!app", { app: "" }, false],
    ["", {}, true],
  ])("%s of %o is %s", (selector, labels, expected) => {
    expect(parseLabelSelector(selector)(labels)).toBe(expected);
  });

  it("that is invalid is refused with the requirement", () => {
    expect(() => parseLabelSelector("app=a,=b")).toThrow('unable to parse requirement: "=b"');
  });
});

describe("the exporters among pods", () => {
  it("are those of every selector in any namespace, with the port of their annotation, container or chart", () => {
    const found = taken(
      pod("smi", { "app.kubernetes.io/name": "nvidia-gpu-exporter" }),
      pod("amd", { "app.kubernetes.io/name": "metrics-exporter" }, { port: 5050 }),
      pod(
        "dcgm",
        { app: "nvidia-dcgm-exporter" },
        { annotations: { "prometheus.io/port": "9500", "prometheus.io/path": "/m" } },
      ),
      pod("other", { app: "web" }),
    ).found();
    expect(found.map(({ name, page }) => `${name} ${page.url.href}`)).toEqual([
      "any/dcgm http://10.0.0.1:9500/m",
      "any/amd http://10.0.0.1:5050/metrics",
      "any/smi http://10.0.0.1:9835/metrics",
    ]);
  });

  it("count once if two selectors have them, and again after a new beginning of the list", () => {
    const both = pod("dcgm", { app: "nvidia-dcgm-exporter", "app.kubernetes.io/name": "dcgm-exporter" });
    const pods = taken(both, both);
    expect(pods.found()).toHaveLength(1);
    pods.start();
    expect(pods.found()).toEqual([]);
  });

  it("have the companions of their node; a companion on a node without an exporter is an exporter", () => {
    const hami = { "app.kubernetes.io/component": "hami-device-plugin" };
    const companion = pod("hami-b", hami, { node: "node-2" });
    const found = taken(pod("dcgm", { app: "nvidia-dcgm-exporter" }), pod("hami-a", hami), {
      ...companion,
      status: { phase: "Running", podIP: "10.0.0.2" },
    }).found();
    expect(found.map(({ name, node, companions }) => [name, node, companions.map((each) => each.pod)])).toEqual([
      ["any/dcgm", "node-1", ["hami-a"]],
      ["any/hami-b", "node-2", []],
    ]);
  });

  it("are unseen with an address that is not allowed", () => {
    const pods = taken(pod("dcgm", { app: "nvidia-dcgm-exporter" }, { annotations: { "prometheus.io/port": "0" } }));
    expect(pods.found()).toEqual([]);
    expect(pods.refused()).toEqual([
      {
        what: "the page of any/dcgm",
        why: 'the pod has the annotation prometheus.io/port: "0", which is not a port',
        without: "the GPUs of its node have no measurements",
      },
    ]);
  });
});
