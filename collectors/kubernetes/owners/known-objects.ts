import type { KubeObject } from "../projection/kube-object.ts";
import { given, wholeNumber } from "../projection/wire.ts";
import type { OwnerLookup } from "./chain.ts";

/** Objects from files as owners of the pods in their namespace, found by UID, otherwise by kind and name. */
export interface KnownObjects {
  /** Adds an object. It replaces an earlier one with the same kind and name. */
  take(object: KubeObject): void;
  readonly lookup: OwnerLookup;
}

/** Creates an empty set of objects. */
export function createKnownObjects(): KnownObjects {
  const byUid = new Map<string, KubeObject>();
  const byName = new Map<string, KubeObject>();
  return {
    take(object) {
      const { namespace = "", name, uid } = object.metadata ?? {};
      if (uid !== undefined) byUid.set(`${namespace}/${uid}`, object);
      byName.set(`${object.kind}/${namespace}/${name}`, object);
    },
    lookup({ kind, name, uid }, namespace) {
      const object = byUid.get(`${namespace}/${uid}`) ?? byName.get(`${kind}/${namespace}/${name}`);
      if (object === undefined) return undefined;
      const deadlineSeconds = object.kind === "Job" ? deadlineOf(object) : undefined;
      return { ...object.metadata, ...given({ deadlineSeconds }) };
    },
  };
}

function deadlineOf({ spec }: KubeObject & { readonly spec?: { readonly activeDeadlineSeconds?: unknown } | null }) {
  return wholeNumber(spec?.activeDeadlineSeconds);
}
