import type { OwnerReference } from "../../../domain/workload.ts";
import type { KubeOwnerReference } from "../projection/kube-object.ts";
import { objects, text } from "../projection/wire.ts";
import type { OwnerKinds } from "./kinds.ts";

/** The known metadata of an owner, and the deadline of a Job. */
export interface KnownOwner {
  readonly ownerReferences?: readonly KubeOwnerReference[] | null;
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly annotations?: Readonly<Record<string, string>> | null;
  /** `activeDeadlineSeconds` of a Job, if it has one. */
  readonly deadlineSeconds?: number;
}

/** Returns an owner; undefined if it was not seen or may not be read. */
export type OwnerLookup = (reference: OwnerReference, namespace: string) => KnownOwner | undefined;

/** The chain of owners from a pod's controller to the top, with their known metadata. */
export interface OwnerChain {
  readonly owners: readonly OwnerReference[];
  /** The owners that were found, nearest first. */
  readonly known: readonly KnownOwner[];
  /** The chain may continue: its last kind is unknown, it could not be read, it loops, or it is deeper than any real one. */
  readonly truncated: boolean;
}

/** The longest chain. A LeaderWorkerSet under KServe is 5 deep, and no real chain comes near twice that. */
const MOST_OWNERS = 10;

/**
 * Follows an object's owner references upwards: at each step to the controller, otherwise to the first owner. The owner of a mirror pod is
 * its Node, which is not a workload; it ends the chain and is left out.
 */
export function resolveOwners(
  first: readonly KubeOwnerReference[] | null | undefined,
  lookup: OwnerLookup,
  kinds: OwnerKinds,
  namespace = "",
): OwnerChain {
  const owners: OwnerReference[] = [];
  const known: KnownOwner[] = [];
  const seen = new Set<string>();
  let reference = nextOwner(first);
  while (reference !== undefined) {
    const { apiVersion, kind, name, uid } = reference;
    const identity = uid === "" ? `${apiVersion}/${kind}/${name}` : uid;
    if (seen.has(identity) || owners.length === MOST_OWNERS) return { owners, known, truncated: true };
    seen.add(identity);
    owners.push(reference);
    if (kinds.find(reference) === undefined) return { owners, known, truncated: true };
    const owner = lookup(reference, namespace);
    if (owner === undefined) return { owners, known, truncated: true };
    known.push(owner);
    reference = nextOwner(owner.ownerReferences);
  }
  return { owners, known, truncated: false };
}

function nextOwner(references: readonly KubeOwnerReference[] | null | undefined): OwnerReference | undefined {
  const all = objects(references);
  const owner = all.find(({ controller }) => controller === true) ?? all[0];
  const kind = text(owner?.kind);
  const name = text(owner?.name);
  if (kind === undefined || name === undefined) return undefined;
  const apiVersion = text(owner?.apiVersion) ?? "";
  if (kind === "Node" && apiVersion === "v1") return undefined;
  return { apiVersion, kind, name, uid: text(owner?.uid) ?? "" };
}
