/** What Kubernetes keeps of every object beside its own fields (meta/v1 ObjectMeta, as far as it is used here). */
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

/** A line of `metadata.ownerReferences`. */
export interface OwnerRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Any object of the API, as JSON has it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/**
 * One version of an object as the store keeps it. What it is made of may be built when it is asked for: fifty thousand
 * pods of nine kilobytes need not be in memory at once.
 */
export interface StoredObject {
  readonly name: string;
  /** Empty for what has none. */
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The value of a field that field selectors know; `undefined` where the kind has no such field. */
  field(path: string): string | undefined;
  /** Without its resourceVersion. */
  metadata(): ObjectMeta;
  /** The JSON of the object without `kind` and `apiVersion`: it begins with `{"metadata":`. */
  json(resourceVersion: string): string;
}

/** The stored form of a whole object, which must not be changed afterwards. */
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

/** The fields of a kind that field selectors know, beside name and namespace (pkg/apis/core/v1/conversion.go). */
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
