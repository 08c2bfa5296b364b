import type { OwnerCache } from "../../kubernetes/owners/cache.ts";
import type { KnownOwner } from "../../kubernetes/owners/chain.ts";
import type { OwnerKinds } from "../../kubernetes/owners/kinds.ts";
import type { KubeOwnerReference } from "../../kubernetes/projection/kube-object.ts";
import { given } from "../../kubernetes/projection/wire.ts";
import type { LabelReader } from "./label-name.ts";
import type { ImportRemarks } from "./remarks.ts";
import { labelOf, type Row } from "./row.ts";

/** The owners of pods, as far as the series have them. */
export interface ImportedOwners extends OwnerCache {
  /** Takes a row about an owner. Other rows are ignored. */
  take(row: Row): void;
  /** Returns a reference to an owner by its kind and name. Its UID is made up and stable. */
  reference(kind: string, namespace: string, name: string): KubeOwnerReference;
}

/** The kinds with series, with the label that has their name (docs/metrics/workload of kube-state-metrics). */
const KINDS: Readonly<Record<string, { readonly kind: string; readonly label: string }>> = {
  replicaset: { kind: "ReplicaSet", label: "replicaset" },
  job: { kind: "Job", label: "job_name" },
  deployment: { kind: "Deployment", label: "deployment" },
  statefulset: { kind: "StatefulSet", label: "statefulset" },
  daemonset: { kind: "DaemonSet", label: "daemonset" },
  cronjob: { kind: "CronJob", label: "cronjob" },
};
const METRIC =
  /^kube_(replicaset|job|deployment|statefulset|daemonset|cronjob)_(owner|labels|annotations|spec_active_deadline_seconds)$/;

/** Versions of Kubernetes' own groups. The versions of other groups are not exported. */
const VERSIONS: Readonly<Record<string, string>> = { "": "v1", apps: "apps/v1", batch: "batch/v1" };

/**
 * The names that controllers give: of a ReplicaSet, with the hash of its pod template in an alphabet without vowels
 * (k8s.io/apimachinery/pkg/util/rand), and of a CronJob's Job, with the minutes since the epoch.
 */
const OF_DEPLOYMENT = /^(.+)-[bcdfghjklmnpqrstvwxz2456789]{5,10}$/;
const OF_CRONJOB = /^(.+)-\d{8,10}$/;

interface Known {
  readonly owner?: { readonly kind: string; readonly name: string } | "none";
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deadlineSeconds?: number;
}

/**
 * Creates an empty set of owners. A chain ends, as far as it is known, at a kind whose own owner has no series: StatefulSets, DaemonSets,
 * CronJobs and the kinds of operators; also Deployments of versions without `kube_deployment_owner`.
 */
export function createImportedOwners(options: {
  readonly kinds: OwnerKinds;
  readonly labels: LabelReader;
  readonly remarks: ImportRemarks;
}): ImportedOwners {
  const { kinds, labels, remarks } = options;
  const known = new Map<string, Known>();
  const remarked = new Set<string>();
  let hasJobs = false;

  function reference(kind: string, namespace: string, name: string): KubeOwnerReference {
    return {
      apiVersion: apiVersionOf(kind, namespace, name),
      kind,
      name,
      uid: `imported/${kind}/${namespace}/${name}`,
      controller: true,
    };
  }

  /** Returns the group of a kind, with its version if it is known. Of two kinds of the name Job, Kubernetes' own has series. */
  function apiVersionOf(kind: string, namespace: string, name: string): string {
    if (kind === "Node") return "v1";
    const groups = kinds.all.flatMap((each) => (each.kind === kind ? each.group : []));
    const native = groups.find((group) => VERSIONS[group] !== undefined);
    const other = groups.find((group) => group !== native);
    const isOther = kind === "Job" && hasJobs && !known.has(keyOf(kind, namespace, name));
    const group = isOther ? (other ?? native) : (native ?? other);
    return group === undefined ? "" : (VERSIONS[group] ?? `${group}/unknown`);
  }

  function guessed(kind: string, namespace: string, name: string): KnownOwner | undefined {
    const [pattern, above, remark] =
      kind === "ReplicaSet"
        ? ([OF_DEPLOYMENT, "Deployment", "owner of ReplicaSet"] as const)
        : kind === "Job"
          ? ([OF_CRONJOB, "CronJob", "owner of Job"] as const)
          : [];
    const [, owner] = pattern?.exec(name) ?? [];
    if (above === undefined || owner === undefined) return undefined;
    const key = keyOf(kind, namespace, name);
    if (!remarked.has(key)) remarks.add(remark, `${kind} ${namespace}/${name}`);
    remarked.add(key);
    return { ownerReferences: [reference(above, namespace, owner)] };
  }

  return {
    reference,
    take(row) {
      const [, resource = "", part = ""] = METRIC.exec(row.metric) ?? [];
      const of = KINDS[resource];
      if (of === undefined || row.runs.every(({ value }) => value === 0)) return;
      const key = keyOf(of.kind, labelOf(row, "namespace"), labelOf(row, of.label));
      const before = known.get(key) ?? {};
      known.set(key, { ...before, ...partOf(row, part, before, labels) });
      hasJobs ||= resource === "job";
    },
    lookup({ kind, name }, namespace) {
      const found = known.get(keyOf(kind, namespace, name));
      if (found?.owner === undefined) {
        const guess = guessed(kind, namespace, name);
        if (guess !== undefined) return { ...found, ...guess };
        return found;
      }
      const { owner, ...rest } = found;
      const ownerReferences = owner === "none" ? [] : [reference(owner.kind, namespace, owner.name)];
      return { ...rest, ownerReferences };
    },
    isUnknown: () => false,
    fetch: () => Promise.resolve(),
  };
}

function partOf(row: Row, part: string, before: Known, labels: LabelReader): Known {
  switch (part) {
    case "owner": {
      const [kind, name] = [labelOf(row, "owner_kind"), labelOf(row, "owner_name")];
      // An object has one row for each of its owners, of which one is the controller.
      const isSecond = before.owner !== undefined && labelOf(row, "owner_is_controller") === "false";
      if (isSecond) return {};
      return { owner: kind === "" ? "none" : { kind, name } };
    }
    case "labels":
      return { labels: labels.labels(row) };
    case "annotations":
      return { annotations: labels.annotations(row) };
    default:
      return given({ deadlineSeconds: row.runs.at(-1)?.value });
  }
}

function keyOf(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}
