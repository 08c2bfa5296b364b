/** The common fields of every object (meta/v1 ObjectMeta, with the fields that are used here). */
export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerRef[];
  readonly finalizers?: readonly string[];
}

/** An entry of `metadata.ownerReferences`. */
export interface OwnerRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Any object of the API, as JSON. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/**
 * One version of an object in the store. Its text may be built on demand: fifty thousand pods of nine kilobytes need not be in memory at
 * once.
 */
export interface StoredObject {
  readonly name: string;
  /** Empty for objects without a namespace. */
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Returns the value of a field of field selectors; `undefined` if the kind has no such field. */
  field(path: string): string | undefined;
  /** Without its resourceVersion. */
  metadata(): ObjectMeta;
  /** Returns the JSON of the object without `kind` and `apiVersion`. It begins with `{"metadata":`. */
  json(resourceVersion: string): string;
}

/** Returns the stored form of a whole object, which must not be changed afterwards. */
export function storedObject(object: KubernetesObject): StoredObject {
  const { apiVersion: _version, kind, metadata, ...rest } = object;
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? "",
    labels: metadata.labels ?? {},
    field(path) {
      if (path === "metadata.name") return metadata.name;
      if (path === "metadata.namespace") return metadata.namespace ?? "";
      if (!fieldsOf(kind).has(path)) return undefined;
      const [top, inner] = path.split(".");
      const outer = rest[top!];
      const value = inner === undefined ? outer : (outer as Readonly<Record<string, unknown>> | undefined)?.[inner];
      return typeof value === "string" ? value : "";
    },
    metadata: () => metadata,
    json: (resourceVersion) => JSON.stringify({ metadata: { ...metadata, resourceVersion }, ...rest }),
  };
}

/** Returns the fields of a kind for field selectors, beside name and namespace (pkg/apis/core/v1/conversion.go). */
export function fieldsOf(kind: string): ReadonlySet<string> {
  return kind === "Pod" ? POD_FIELDS : kind === "Event" ? EVENT_FIELDS : NO_FIELDS;
}

const NO_FIELDS: ReadonlySet<string> = new Set();
const EVENT_FIELDS: ReadonlySet<string> = new Set([
  "involvedObject.kind",
  "involvedObject.namespace",
  "involvedObject.name",
  "involvedObject.uid",
  "reason",
  "type",
]);
const POD_FIELDS: ReadonlySet<string> = new Set([
  "spec.nodeName",
  "spec.restartPolicy",
  "spec.schedulerName",
  "spec.serviceAccountName",
  "status.phase",
  "status.podIP",
  "status.nominatedNodeName",
]);
