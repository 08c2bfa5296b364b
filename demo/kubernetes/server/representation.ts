import { apiVersionOf, type ApiResource } from "./resources.ts";
import { failure } from "./status.ts";
import type { Version } from "./store.ts";

/** The representation of objects: whole, or only their metadata. */
export type Representation = "whole" | "metadata";

/** Returns the representation for an Accept header: the first of its media types that the server supports. Fails with a 406 if there is none. */
export function representationOf(accept: string | undefined): Representation {
  for (const range of (accept ?? "*/*").split(",")) {
    const [media = "", ...parameters] = range.split(";").map((part) => part.trim());
    if (!["application/json", "application/*", "*/*"].includes(media)) continue;
    const as = parameters.find((part) => part.startsWith("as="))?.slice(3);
    if (as === undefined) return "whole";
    if (/^PartialObjectMetadata(List)?$/.test(as) && parameters.includes("v=v1")) return "metadata";
  }
  throw failure(406, "NotAcceptable", "only the following media types are accepted: application/json");
}

/** Returns the JSON of a single object: fetched by name, or in a watch event. */
export function objectText(resource: ApiResource, version: Version, representation: Representation): string {
  if (representation === "metadata") return metadataText(version);
  const text = version.object.json(String(version.resourceVersion));
  return `{"kind":"${resource.kind}","apiVersion":"${apiVersionOf(resource)}",${text.slice(1)}`;
}

/** Returns the JSON of an object in a list: without `kind` and `apiVersion`, except for custom resources and metadata. */
export function itemText(resource: ApiResource, version: Version, representation: Representation): string {
  if (representation === "whole" && !resource.custom) return version.object.json(String(version.resourceVersion));
  return objectText(resource, version, representation);
}

/** Returns the head of a list, up to its items. */
export function listHead(
  resource: ApiResource,
  representation: Representation,
  metadata: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number },
): string {
  const [kind, apiVersion] =
    representation === "metadata"
      ? ["PartialObjectMetadataList", "meta.k8s.io/v1"]
      : [`${resource.kind}List`, apiVersionOf(resource)];
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`;
}

/** Returns the JSON of a bookmark event: an object of the kind with only its resourceVersion. */
export function bookmarkText(
  resource: ApiResource,
  resourceVersion: number,
  representation: Representation,
  endsInitialEvents: boolean,
): string {
  const [kind, apiVersion] =
    representation === "metadata"
      ? ["PartialObjectMetadata", "meta.k8s.io/v1"]
      : [resource.kind, apiVersionOf(resource)];
  const metadata = {
    resourceVersion: String(resourceVersion),
    creationTimestamp: null,
    ...(endsInitialEvents ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}),
  };
  return `{"type":"BOOKMARK","object":${JSON.stringify({ kind, apiVersion, metadata })}}\n`;
}

function metadataText({ object, resourceVersion }: Version): string {
  return JSON.stringify({
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: { ...object.metadata(), resourceVersion: String(resourceVersion) },
  });
}
