import type { KubernetesObject } from "./server/object.ts";

type Labels = Readonly<Record<string, string>>;

/** A series' name, labels and value. */
export type StateSample = readonly [name: string, labels: Labels, value: number];

/** Labels of objects that the generated allowlist (`deploy/exporter/kube-state-metrics.values.yaml`) lets through. */
const ALLOWED = [
  "team",
  "cost-center",
  "gpu-ledger/alerts",
  "nvidia.com/cuda.driver-version.full",
  "nvidia.com/cuda.runtime-version.full",
];

/** Returns the series of kube-state-metrics for objects, as far as rules read them (its docs/metrics, version 2). */
export function stateSamples(objects: readonly KubernetesObject[]): readonly StateSample[] {
  return objects.flatMap((object) => {
    if (object.kind === "Pod") return ofPod(object as unknown as Pod);
    if (object.kind === "Node") return ofNode(object as unknown as Node);
    if (object.kind !== "Namespace") return [];
    return [["kube_namespace_labels", { namespace: object.metadata.name, ...labelsOf(object) }, 1] as const];
  });
}

/** Returns the same as a page in Prometheus' text format, 0.0.4. */
export function stateMetricsPage(objects: readonly KubernetesObject[]): string {
  const families = new Map<string, string[]>();
  for (const [name, labels, value] of stateSamples(objects)) {
    const lines = families.get(name) ?? [`# TYPE ${name} ${name.endsWith("_total") ? "counter" : "gauge"}\n`];
    const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
    lines.push(`${name}{${pairs.join(",")}} ${value}\n`);
    families.set(name, lines);
  }
  return [...families.values()].flat().join("");
}

interface Pod extends KubernetesObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly {
      readonly name: string;
      readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
    }[];
  };
  readonly status: {
    readonly phase: string;
    readonly startTime?: string;
    readonly hostIP?: string;
    readonly podIP?: string;
    readonly containerStatuses?: readonly { readonly name: string; readonly restartCount: number }[];
  };
}

interface Node extends KubernetesObject {
  readonly status: {
    readonly capacity: Readonly<Record<string, string>>;
    readonly allocatable: Readonly<Record<string, string>>;
  };
}

function ofPod({ metadata, spec, status }: Pod): readonly StateSample[] {
  const { namespace = "", name: pod, uid } = metadata;
  const key = { namespace, pod };
  const node = spec.nodeName ?? "";
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  const address = { host_ip: status.hostIP ?? "", pod_ip: status.podIP ?? "" };
  const samples: StateSample[] = [
    ["kube_pod_info", { ...key, uid, node, ...address }, 1],
    ["kube_pod_labels", { ...key, uid, ...labelsOf({ metadata }) }, 1],
    ...["Pending", "Running", "Succeeded", "Failed", "Unknown"].map((phase): StateSample => [
      "kube_pod_status_phase",
      { ...key, uid, phase },
      phase === status.phase ? 1 : 0,
    ]),
    ...spec.containers.flatMap(({ name: container, resources }) =>
      Object.entries(resources?.requests ?? {})
        .filter(([resource]) => resource.includes("/"))
        .map(([resource, amount]): StateSample => [
          "kube_pod_container_resource_requests",
          { ...key, uid, container, node, resource: underscored(resource), unit: "integer" },
          Number(amount),
        ]),
    ),
  ];
  for (const { name: container, restartCount } of status.containerStatuses ?? [])
    samples.push(["kube_pod_container_status_restarts_total", { ...key, uid, container }, restartCount]);
  if (owner !== undefined) {
    const named = { owner_kind: owner.kind, owner_name: owner.name, owner_is_controller: "true" };
    samples.push(["kube_pod_owner", { ...key, uid, ...named }, 1]);
  }
  if (status.startTime !== undefined) {
    samples.push(["kube_pod_start_time", { ...key, uid }, Date.parse(status.startTime) / 1000]);
  }
  return samples;
}

function ofNode({ metadata, status }: Node): readonly StateSample[] {
  const { name: node } = metadata;
  const resources = (["capacity", "allocatable"] as const).flatMap((kind) =>
    Object.entries(status[kind])
      .filter(([resource]) => resource.includes("/"))
      .map(([resource, amount]): StateSample => [
        `kube_node_status_${kind}`,
        { node, resource: underscored(resource), unit: "integer" },
        Number(amount),
      ]),
  );
  return [["kube_node_labels", { node, ...labelsOf({ metadata }) }, 1], ...resources];
}

function labelsOf({ metadata: { labels = {} } }: Pick<KubernetesObject, "metadata">): Labels {
  return Object.fromEntries(
    ALLOWED.flatMap((label) => (labels[label] === undefined ? [] : [[`label_${underscored(label)}`, labels[label]]])),
  );
}

/** Replaces every character except letters and digits with an underscore. */
function underscored(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, "_");
}
