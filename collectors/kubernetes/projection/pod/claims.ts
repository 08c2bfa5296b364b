import type { GpuAsk } from "../../../../domain/workload.ts";
import type { PodObject } from "../pod-object.ts";
import { objects, text } from "../wire.ts";

/**
 * Reads the DRA claims of a pod, by their names in its namespace. A claim is named by the pod, created from a template (the name is then in
 * `status.resourceClaimStatuses`; it is empty until the claim is created), or created for extended resources served by DRA. A template that
 * needed no claim gives none. `isForGpus` excludes claims that are known to be for other devices.
 */
export function readClaims(
  pod: PodObject,
  isForGpus: (namespace: string, claim: string) => boolean | undefined,
): readonly GpuAsk[] {
  const made = new Map<string, string | undefined>();
  for (const { name, resourceClaimName } of objects(pod.status?.resourceClaimStatuses)) {
    if (name !== undefined) made.set(name, text(resourceClaimName));
  }
  const claims = new Set<string>();
  for (const { name, resourceClaimName, resourceClaimTemplateName } of objects(pod.spec?.resourceClaims)) {
    const own = text(resourceClaimName);
    if (own !== undefined) claims.add(own);
    else if (text(resourceClaimTemplateName) !== undefined) {
      const claim = name !== undefined && made.has(name) ? made.get(name) : "";
      if (claim !== undefined) claims.add(claim);
    }
  }
  const extended = text(pod.status?.extendedResourceClaimStatus?.resourceClaimName);
  if (extended !== undefined) claims.add(extended);
  const namespace = pod.metadata?.namespace ?? "";
  return [...claims]
    .filter((claim) => claim === "" || isForGpus(namespace, claim) !== false)
    .map((claim) => ({ kind: "claim", claim }));
}

/** Returns the resources of a pod that DRA serves with a claim. Counting them as resources too would count them twice. */
export function servedByClaim(pod: PodObject): ReadonlySet<string> {
  const status = pod.status?.extendedResourceClaimStatus;
  if (text(status?.resourceClaimName) === undefined) return new Set();
  return new Set(objects(status?.requestMappings).flatMap(({ resourceName }) => text(resourceName) ?? []));
}
