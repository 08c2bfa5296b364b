/** A kind of object and where the API server has it. */
export interface ApiResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural name in lower case, as in paths: `pods`. */
  readonly plural: string;
  readonly kind: string;
}

/** The path of a resource's collection, all namespaces, or of one object in it. */
export function pathOf(
  { group, version, plural }: ApiResource,
  object?: { readonly namespace: string; readonly name: string },
): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  if (object === undefined) return `${root}/${plural}`;
  const namespace = object.namespace === "" ? "" : `/namespaces/${encodeURIComponent(object.namespace)}`;
  return `${root}${namespace}/${plural}/${encodeURIComponent(object.name)}`;
}

/** A resource as `kubectl` names it: `jobs.batch`, `pods`. */
export function nameOf({ group, plural }: ApiResource): string {
  return group === "" ? plural : `${plural}.${group}`;
}

/** What every object carries, as far as it is read here. */
export interface ApiObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An object as it comes from the wire. Whoever projects it reads the rest with care. */
export interface ApiObject {
  readonly metadata: ApiObjectMeta;
}

/** Whether a parsed value is an object with the metadata that a reflector needs. */
export function isApiObject(value: unknown): value is ApiObject {
  if (typeof value !== "object" || value === null) return false;
  const { metadata } = value as { metadata?: Partial<Record<keyof ApiObjectMeta, unknown>> };
  if (typeof metadata !== "object" || metadata === null) return false;
  return [metadata.name, metadata.uid, metadata.resourceVersion].every(
    (part) => typeof part === "string" && part !== "",
  );
}
