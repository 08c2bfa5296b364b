import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownerKinds } from "../../../../collectors/kubernetes/owners/kinds.ts";
import { createFactRegistries } from "../../../../collectors/kubernetes/watcher/fact-registries.ts";
import type { RegistryMessage } from "../../../../collectors/kubernetes/watcher/fact-registry.ts";
import { createProjector } from "../../../../collectors/kubernetes/watcher/projector.ts";
import type { SeenObject } from "../../../../collectors/kubernetes/watcher/seen-object.ts";
import { decodeClusterFact, decodeInventory, decodeWorkload } from "../../../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../../../domain/messages/topics.ts";
import { objectOf } from "../../../support/kubernetes/random-object.ts";
import { rounds } from "../../../support/rounds.ts";

const NOW = Date.UTC(2026, 2, 1, 12);
const DECODERS: Readonly<Record<string, (bytes: Uint8Array) => object>> = {
  [WORKLOADS_TOPIC]: decodeWorkload,
  [INVENTORY_TOPIC]: decodeInventory,
  [CLUSTER_TOPIC]: decodeClusterFact,
};

/** Any object of a type, with the identity that a watcher has checked before. */
function known(type: string, kind: string, apiVersion: string): fc.Arbitrary<SeenObject> {
  return objectOf(type).map((object) => ({
    ...object,
    apiVersion,
    kind,
    metadata: { ...(object["metadata"] as object | null), name: "x", uid: `uid-of-${kind}`, resourceVersion: "100" },
  }));
}

const TYPES = [
  ["nodes", "V1Node", "Node", "v1"],
  ["pods", "V1Pod", "Pod", "v1"],
  ["events", "CoreV1Event", "Event", "v1"],
  ["namespaces", "V1Namespace", "Namespace", "v1"],
  ["resourcequotas", "V1ResourceQuota", "ResourceQuota", "v1"],
  ["limitranges", "V1LimitRange", "LimitRange", "v1"],
  ["priorityclasses.scheduling.k8s.io", "V1PriorityClass", "PriorityClass", "scheduling.k8s.io/v1"],
  ["poddisruptionbudgets.policy", "V1PodDisruptionBudget", "PodDisruptionBudget", "policy/v1"],
  ["resourceclaims.resource.k8s.io", "ResourceV1ResourceClaim", "ResourceClaim", "resource.k8s.io/v1"],
  ["resourceslices.resource.k8s.io", "V1ResourceSlice", "ResourceSlice", "resource.k8s.io/v1"],
  ["devicetaintrules.resource.k8s.io", "V1alpha3DeviceTaintRule", "DeviceTaintRule", "resource.k8s.io/v1alpha3"],
] as const;

describe("any object of Kubernetes' API", () => {
  it.each(TYPES)(
    "is skipped, or becomes a fact that a processor can read: %s",
    async (resource, type, kind, apiVersion) => {
      let facts = 0;
      await fc.assert(
        fc.asyncProperty(
          known("V1Node", "Node", "v1"),
          known("V1ResourceSlice", "ResourceSlice", "resource.k8s.io/v1"),
          known(type, kind, apiVersion),
          known(type, kind, apiVersion),
          async (node, slice, first, second) => {
            const messages: [topic: string, message: RegistryMessage][] = [];
            const epoch = { epoch: () => 1, renew: () => {} };
            const projector = createProjector({
              registries: createFactRegistries("test", epoch, (topic, message) => void messages.push([topic, message])),
              owners: { lookup: () => undefined, isUnknown: () => false, fetch: () => Promise.resolve() },
              projection: {
                pods: { kinds: ownerKinds(), labels: ["*"], annotations: ["*"] },
                nodes: { labels: ["*"] },
              },
              onRemarks: () => {},
              signal: new AbortController().signal,
            });
            const sight = { resourceVersion: "100", atMillis: NOW };
            await projector.take("nodes", node, sight);
            await projector.take("resourceslices.resource.k8s.io", slice, sight);
            projector.listed("pods", NOW);
            projector.listed("poddisruptionbudgets.policy", NOW);
            await projector.take(resource, first, sight);
            await projector.take(resource, second, { resourceVersion: "101", atMillis: NOW + 1 });
            projector.gone(resource, second.metadata.uid, { atMillis: NOW + 2, inferred: false }, sight);
            facts += messages.length;
            for (const [topic, { value }] of messages) expect(DECODERS[topic]!(value!)).not.toHaveProperty("invalid");
          },
        ),
        { numRuns: rounds(3_000) },
      );
      expect(facts).toBeGreaterThan(0);
    },
  );
});
