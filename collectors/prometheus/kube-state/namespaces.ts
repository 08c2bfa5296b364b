import type { SeenObject } from "../../kubernetes/watcher/seen-object.ts";
import { livesOf, type LifeMetrics } from "./lives.ts";
import type { Played } from "./play.ts";
import type { NameReaders } from "./pod-object.ts";
import type { Presence } from "./presence.ts";
import type { ImportRemarks } from "./remarks.ts";
import { labelOf, rowsByObject, type Row } from "./row.ts";
import type { States } from "./states.ts";
import { timestamp } from "./timestamp.ts";

/** A kind of object in a namespace, or the namespace itself. */
interface Kind {
  readonly resource: string;
  readonly kind: string;
  /** The metrics of the kind. */
  readonly metrics: readonly string[];
  readonly lives: LifeMetrics;
  /** The label with the object's name. */
  readonly label: string;
  /** Returns the fields of the object beside its metadata at a time. */
  readonly bodyAt: (states: States, atMillis: number) => object;
}

const KINDS: readonly Kind[] = [
  {
    resource: "namespaces",
    kind: "Namespace",
    metrics: [
      "kube_namespace_labels",
      "kube_namespace_annotations",
      "kube_namespace_created",
      "kube_namespace_status_phase",
    ],
    lives: { info: "kube_namespace_status_phase", created: "kube_namespace_created" },
    label: "namespace",
    bodyAt: () => ({}),
  },
  {
    resource: "resourcequotas",
    kind: "ResourceQuota",
    metrics: ["kube_resourcequota", "kube_resourcequota_created"],
    lives: { info: "kube_resourcequota", created: "kube_resourcequota_created" },
    label: "resourcequota",
    bodyAt: (states, atMillis) => ({
      status: {
        hard: amountsAt(states, "kube_resourcequota", { type: "hard" }, atMillis),
        used: amountsAt(states, "kube_resourcequota", { type: "used" }, atMillis),
      },
    }),
  },
  {
    resource: "limitranges",
    kind: "LimitRange",
    metrics: ["kube_limitrange", "kube_limitrange_created"],
    lives: { info: "kube_limitrange", created: "kube_limitrange_created" },
    label: "limitrange",
    bodyAt(states, atMillis) {
      const of = (constraint: string): Readonly<Record<string, string>> =>
        amountsAt(states, "kube_limitrange", { type: "Container", constraint }, atMillis);
      return { spec: { limits: [{ type: "Container", default: of("default"), max: of("max") }] } };
    },
  },
];

/** Returns the lives of namespaces, quotas and limit ranges. Their UIDs are not exported, so they end with the import. */
export function* importedNamespaces(
  rows: readonly Row[],
  presence: Presence,
  { labels }: NameReaders,
  remarks: ImportRemarks,
): Generator<Played> {
  for (const { resource, kind, metrics, lives, label, bodyAt } of KINDS) {
    const own = new Set(metrics);
    const isNamespace = kind === "Namespace";
    const keyOf = (row: Row): string | undefined =>
      own.has(row.metric) ? `${labelOf(row, "namespace")}/${labelOf(row, label)}` : undefined;
    for (const ofName of rowsByObject(rows, keyOf).values()) {
      const [namespace, name] = [labelOf(ofName[0]!, "namespace"), labelOf(ofName[0]!, label)];
      for (const life of livesOf(ofName, lives, presence)) {
        const { states } = life;
        const createdMillis = life.createdMillis ?? states.firstMillis;
        if (isNamespace && states.rows("kube_namespace_labels").length === 0)
          remarks.add("labels of namespaces", `Namespace ${name}`);
        const uid = `imported/${resource}/${namespace}/${name}/${createdMillis}`;
        const objectAt = (atMillis: number): SeenObject => {
          const labelRow = states.trueRows("kube_namespace_labels", atMillis).at(-1);
          const annotationRow = states.trueRows("kube_namespace_annotations", atMillis).at(-1);
          return {
            apiVersion: "v1",
            kind,
            metadata: {
              name,
              uid,
              creationTimestamp: timestamp(createdMillis),
              ...(isNamespace ? {} : { namespace }),
              labels: labelRow === undefined ? {} : labels.labels(labelRow),
              annotations: annotationRow === undefined ? {} : labels.annotations(annotationRow),
            },
            ...bodyAt(states, atMillis),
          };
        };
        yield { resource, uid, life, moments: [createdMillis], objectAt, endsWithImport: true };
      }
    }
  }
}

/** Returns amounts by resource. Quotas and limit ranges have the names of resources as Kubernetes writes them. */
function amountsAt(
  states: States,
  metric: string,
  labels: Readonly<Record<string, string>>,
  atMillis: number,
): Readonly<Record<string, string>> {
  const names = new Set(states.rows(metric).map((row) => labelOf(row, "resource")));
  return Object.fromEntries(
    [...names].flatMap((resource) => {
      const value = states.valueAt(metric, atMillis, { ...labels, resource });
      return value === undefined ? [] : [[resource, String(value)]];
    }),
  );
}
