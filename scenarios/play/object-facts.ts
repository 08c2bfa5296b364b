import { nameOf } from "../../collectors/kubernetes/api/resource.ts";
import { groupOf, ownerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import { createKnownObjects } from "../../collectors/kubernetes/owners/known-objects.ts";
import type { KubeObject } from "../../collectors/kubernetes/projection/kube-object.ts";
import type { Remark } from "../../collectors/kubernetes/projection/remark.ts";
import { createFactRegistries } from "../../collectors/kubernetes/watcher/fact-registries.ts";
import { WATCHED_KINDS } from "../../collectors/kubernetes/watcher/kinds.ts";
import { createProjector } from "../../collectors/kubernetes/watcher/projector.ts";
import { FACT_SCHEMA_VERSION } from "../../domain/messages/fact-message.ts";
import type { ScenarioFiles } from "../files.ts";
import type { PlayedMessage } from "./message.ts";

/** The result of a watcher for the objects of files: its messages and remarks. */
export interface ObjectFacts {
  readonly messages: readonly PlayedMessage[];
  readonly remarks: readonly { readonly object: KubeObject; readonly remark: Remark }[];
}

/**
 * Returns the facts that the watcher's projection makes of the Kubernetes objects of files: each from its time on, at the same time in the order
 * in which the watcher lists kinds. `epoch` is the watcher's term.
 */
export function objectFacts(
  { cluster, objects, resourceNames }: Pick<ScenarioFiles, "cluster" | "objects" | "resourceNames">,
  epoch: number,
): ObjectFacts {
  const messages: PlayedMessage[] = [];
  const remarks: { object: KubeObject; remark: Remark }[] = [];
  let atMillis = 0;
  const owners = createKnownObjects();
  const projector = createProjector({
    registries: createFactRegistries(cluster, { epoch: () => epoch, renew: () => {} }, (topic, { key, value }) =>
      messages.push({ topic, atMillis, key, value: value!, schemaVersion: FACT_SCHEMA_VERSION }),
    ),
    // The files have all existing objects. None must be fetched, and a pod is processed at once.
    owners: { lookup: owners.lookup, isUnknown: () => false, fetch: () => Promise.resolve() },
    projection: {
      pods: { kinds: ownerKinds(), labels: ["*"], annotations: ["*"], resourceNames },
      nodes: { labels: ["*"], resourceNames },
    },
    onRemarks: (object, ofObject) => remarks.push(...ofObject.map((remark) => ({ object, remark }))),
    signal: new AbortController().signal,
  });
  // An owner is known before the first pod, independent of its creation time.
  for (const { object } of objects.toReversed()) owners.take(object);
  const inOrder = objects.toSorted((a, b) => a.atMillis - b.atMillis || orderOf(a.object) - orderOf(b.object));
  for (const [index, { atMillis: at, object, isGone }] of inOrder.entries()) {
    atMillis = at;
    const sight = { resourceVersion: String(index + 1), atMillis };
    const kind = WATCHED_KINDS[orderOf(object)];
    owners.take(object);
    if (kind === undefined) continue;
    const resource = nameOf({ ...kind, version: "", plural: kind.resource });
    if (isGone === true) projector.gone(resource, object.metadata.uid, { atMillis, inferred: false }, sight);
    else void projector.take(resource, object, sight);
  }
  return { messages, remarks };
}

/** Returns the index of an object's kind among the watched kinds; after all of them for another kind. */
function orderOf({ apiVersion = "", kind }: KubeObject): number {
  const order = WATCHED_KINDS.findIndex((watched) => watched.kind === kind && watched.group === groupOf(apiVersion));
  return order === -1 ? WATCHED_KINDS.length : order;
}
