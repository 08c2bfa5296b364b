/** The fields of an object's metadata that projections read. All are optional, because the object comes from the wire or from a file. */
export interface KubeMetadata {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string | null;
  readonly deletionGracePeriodSeconds?: number | null;
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly annotations?: Readonly<Record<string, string>> | null;
  readonly ownerReferences?: readonly KubeOwnerReference[] | null;
}

/** One entry of `metadata.ownerReferences`. */
export interface KubeOwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly controller?: boolean | null;
}

/** Any object of the Kubernetes API. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: KubeMetadata | null;
}

/** Returns an object's kind, namespace and name: `Pod ml/train-0`, `Node gpu-a`. */
export function nameOfObject({ kind, metadata }: KubeObject): string {
  const { name, generateName, namespace } = metadata ?? {};
  return `${kind ?? "Object"} ${namespace === undefined ? "" : `${namespace}/`}${name ?? generateName ?? "without a name"}`;
}

/** A condition as most kinds have it. `status` is True, False or Unknown. */
export interface KubeCondition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string | null;
  readonly message?: string | null;
  readonly lastTransitionTime?: string | null;
}

/** Quantities by resource name, as written: texts or numbers. */
export type KubeQuantities = Readonly<Record<string, unknown>> | null;
