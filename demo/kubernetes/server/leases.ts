import { randomUUID } from "node:crypto";
import { storedObject, type KubernetesObject, type ObjectMeta } from "./object.ts";
import { apiVersionOf, qualifiedName, resourceId, type ApiResource } from "./resources.ts";
import { failure, named, notFound } from "./status.ts";
import type { ObjectStore, Version } from "./store.ts";

/** An object from a client. */
export type SentObject = Readonly<Record<string, unknown>> & { readonly metadata?: Partial<ObjectMeta> };

/** Creates an object from a client; 409 if the name is taken, 422 without a name. */
export function createSent(
  store: ObjectStore,
  resource: ApiResource,
  namespace: string,
  sent: SentObject,
  nowMillis: number,
): Version {
  const name = sent.metadata?.name ?? "";
  if (name === "") throw failure(422, "Invalid", `${resource.kind} "" is invalid: metadata.name: Required value`);
  checkNamespace(sent, namespace);
  if (store.get(resourceId(resource), `${namespace}/${name}`) !== undefined) {
    const message = `${qualifiedName(resource)} "${name}" already exists`;
    throw failure(409, "AlreadyExists", message, { details: named(resource, name) });
  }
  const metadata = {
    ...sent.metadata,
    name,
    namespace,
    uid: randomUUID(),
    creationTimestamp: `${new Date(nowMillis).toISOString().slice(0, 19)}Z`,
  };
  return store.put(resourceId(resource), storedObject(completed(resource, sent, metadata)));
}

/**
 * Replaces an object with a client's, if it is based on the newest version: 409 if it is not, 422 without a version (Leases refuse blind
 * updates), 404 if there is none.
 */
export function replaceSent(
  store: ObjectStore,
  resource: ApiResource,
  namespace: string,
  name: string,
  sent: SentObject,
): Version {
  const current = store.get(resourceId(resource), `${namespace}/${name}`);
  if (current === undefined) throw notFound(resource, name);
  checkNamespace(sent, namespace);
  const { metadata = {} } = sent;
  if (metadata.name !== undefined && metadata.name !== name) {
    const message = `the name of the object (${metadata.name}) does not match the name on the URL (${name})`;
    throw failure(400, "BadRequest", message);
  }
  const full = `${qualifiedName(resource)} "${name}"`;
  if ((metadata.resourceVersion ?? "") === "") {
    const message = `${full} is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`;
    throw failure(422, "Invalid", message, { details: named(resource, name) });
  }
  const kept = current.object.metadata();
  if (metadata.resourceVersion !== String(current.resourceVersion) || (metadata.uid ?? kept.uid) !== kept.uid) {
    const message = `Operation cannot be fulfilled on ${full}: the object has been modified; please apply your changes to the latest version and try again`;
    throw failure(409, "Conflict", message, { details: named(resource, name) });
  }
  const { uid, creationTimestamp } = kept;
  const next = { ...metadata, name, namespace, uid, ...(creationTimestamp === undefined ? {} : { creationTimestamp }) };
  return store.put(resourceId(resource), storedObject(completed(resource, sent, next)));
}

function checkNamespace({ metadata }: SentObject, namespace: string): void {
  if (metadata?.namespace === undefined || metadata.namespace === namespace) return;
  throw failure(
    400,
    "BadRequest",
    "the namespace of the provided object does not match the namespace sent on the request",
  );
}

function completed(resource: ApiResource, sent: SentObject, metadata: ObjectMeta): KubernetesObject {
  return { ...sent, apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
}
