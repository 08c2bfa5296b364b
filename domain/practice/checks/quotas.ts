import { affectedNamespace } from "../affected.ts";
import { createCheck } from "../check.ts";
import { unusedOf, unusedText } from "../unused-grant.ts";
import type { PracticeFacts, PracticeNamespace } from "../facts.ts";

/** Namespaces that can take every GPU. */
export const namespaceWithoutQuota = createCheck(
  {
    name: "namespace-without-quota",
    severity: "medium",
    title: "Namespaces without a quota of GPUs",
    what: "A namespace uses GPUs, and no ResourceQuota in it limits a GPU resource.",
    why: "One mistake in a manifest, or one sweep, can take every GPU of the cluster, and no limit of the team's spending exists.",
    fix: ({ namespace, value }) => `kubectl create quota gpus --namespace ${namespace} --hard=${value}`,
  },
  ({ namespaces }) =>
    namespaces
      .filter(usesGpus)
      .filter(({ quotas }) => quotas.every(({ hard }) => Object.keys(hard).length === 0))
      .map((namespace) =>
        affectedNamespace(namespace, {
          value: hardOf(namespace),
          detail: `requests ${requestedText(namespace)} now`,
        }),
      ),
);

/** Quotas that never limit. */
export const quotaAboveCapacity = createCheck(
  {
    name: "quota-above-capacity",
    severity: "low",
    title: "Quotas above the GPUs that exist",
    what: "A ResourceQuota grants more of a GPU resource than all nodes of the cluster offer.",
    why: "Such a quota limits nothing, and capacity that was promised does not exist.",
    fix: ({ namespace, name, value }) =>
      `kubectl patch resourcequota ${name} --namespace ${namespace} --type merge --patch '{"spec":{"hard":{${value}}}}'`,
  },
  (facts) => {
    const offered = offeredIn(facts);
    return facts.namespaces.flatMap((namespace) =>
      namespace.quotas.flatMap(({ name, hard }) => {
        const above = Object.entries(hard).flatMap(([resource, granted]) => {
          const most = offered.get(`${namespace.cluster}/${resource}`) ?? 0;
          // Devices of a DeviceClass are not in the capacity of nodes.
          return granted > most && !isDeviceClass(resource) ? [{ resource, granted, most }] : [];
        });
        if (above.length === 0) return [];
        const detail = above.map(({ resource, granted, most }) => `${granted} ${resource} of ${most}`).join(", ");
        const value = above.map(({ resource, most }) => `"${quotaKey(resource)}":"${most}"`).join(",");
        return affectedNamespace(namespace, { kind: "ResourceQuota", name, detail, value });
      }),
    );
  },
);

/** Quotas of which most was never used. */
export const quotaUnused = createCheck(
  {
    name: "quota-unused",
    severity: "low",
    title: "Quotas that are never used",
    what: "A ResourceQuota grants a GPU resource, and in all of the days at most half of the grant was in use at once.",
    why: "The planner of a cluster counts with grants. GPUs that are kept for a team that does not use them are bought twice, or missing for another team.",
    fix: ({ namespace, name, value }) =>
      `kubectl patch resourcequota ${name} --namespace ${namespace} --type merge --patch '{"spec":{"hard":{${value}}}}'`,
  },
  ({ namespaces }) =>
    namespaces.flatMap((namespace) =>
      namespace.quotas.flatMap(({ name, hard, most }) => {
        const unused = unusedOf(hard, most);
        if (unused.length === 0) return [];
        const value = unused.map(({ resource, used }) => `"${quotaKey(resource)}":"${used}"`).join(",");
        return affectedNamespace(namespace, {
          kind: "ResourceQuota",
          name,
          detail: unusedText(unused),
          value,
        });
      }),
    ),
);

/** Namespaces in which a container has no default requests. */
export const namespaceWithoutLimitRange = createCheck(
  {
    name: "namespace-without-limit-range",
    severity: "low",
    title: "Namespaces without a LimitRange",
    what: "A namespace uses GPUs and has no LimitRange.",
    why: "A container without requests gets no CPU and memory of its own. It slows down when a neighbor works, and its GPUs wait for it.",
    fix: ({ namespace }) =>
      `apiVersion: v1
kind: LimitRange
metadata: { name: defaults, namespace: ${namespace} }
spec:
  limits:
    - type: Container
      defaultRequest: { cpu: "4", memory: 32Gi }   # of every container without requests, also without GPUs`,
  },
  ({ namespaces }) =>
    namespaces
      .filter((each) => usesGpus(each) && each.limitRanges === 0)
      .map((namespace) => affectedNamespace(namespace)),
);

function usesGpus({ requested, cost }: PracticeNamespace): boolean {
  return cost !== 0n || Object.keys(requested).length > 0;
}

function hardOf({ requested }: PracticeNamespace): string {
  const entries = Object.entries(requested);
  const [first, ...others] = entries.length === 0 ? [["nvidia.com/gpu", 1] as const] : entries;
  return [first!, ...others].map(([resource, count]) => `${quotaKey(resource)}=${count}`).join(",");
}

/** Returns the key of a resource in a quota: an extended resource is limited by its requests alone, a DeviceClass by its own name. */
function quotaKey(resource: string): string {
  return isDeviceClass(resource) ? resource : `requests.${resource}`;
}

function isDeviceClass(resource: string): boolean {
  return resource.includes(".deviceclass.resource.k8s.io/");
}

function requestedText({ requested }: PracticeNamespace): string {
  const entries = Object.entries(requested);
  return entries.length === 0 ? "no GPU" : entries.map(([resource, count]) => `${count} ${resource}`).join(", ");
}

/** Returns the allocatable amount of each GPU resource by `cluster/resource`. */
function offeredIn({ nodes }: PracticeFacts): ReadonlyMap<string, number> {
  const offered = new Map<string, number>();
  for (const { cluster, capacity } of nodes) {
    for (const [resource, count] of Object.entries(capacity)) {
      const key = `${cluster}/${resource}`;
      offered.set(key, (offered.get(key) ?? 0) + count);
    }
  }
  return offered;
}
