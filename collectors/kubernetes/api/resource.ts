/** A kind of object and its path in the API. */
export interface ApiResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural name in lower case, as in paths: `pods`. */
  readonly plural: string;
  readonly kind: string;
}

/** Returns the path of a resource's collection in all namespaces, or of one object in it. */
export function pathOf(
  { group, version, plural }: ApiResource,
  object?: { readonly namespace: string; readonly name: string },
): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  if (object === undefined) return `${root}/${plural}`;
  const namespace = object.namespace === "" ? "" : `/namespaces/${encodeURIComponent(object.namespace)}`;
  return `${root}${namespace}/${plural}/${encodeURIComponent(object.name)}`;
}

/** Returns the name of a resource as in `kubectl`: `jobs.batch`, `pods`. */
export function nameOf({ group, plural }: ApiResource): string {
  return group === "" ? plural : `${plural}.${group}`;
}

/** The metadata fields that this package reads; every object has them. */
export interface ApiObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An object from the wire. Projections must check all other fields. */
export interface ApiObject {
  readonly metadata: ApiObjectMeta;
}

/** Returns whether a parsed value is an object with the metadata that a reflector needs. */
export function isApiObject(value: unknown): value is ApiObject {
  if (typeof value !== "object" || value === null) return false;
  const { metadata } = value as { metadata?: Partial<Record<keyof ApiObjectMeta, unknown>> };
  if (typeof metadata !== "object" || metadata === null) return false;
  return [metadata.name, metadata.uid, metadata.resourceVersion].every(
    (part) => typeof part === "string" && part !== "",
  );
}
