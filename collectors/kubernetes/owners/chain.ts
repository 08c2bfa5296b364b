import type { OwnerReference } from "../../../domain/workload.ts";
import type { KubeOwnerReference } from "../projection/kube-object.ts";
import { objects, text } from "../projection/wire.ts";
import type { OwnerKinds } from "./kinds.ts";

/** What is known of an owner. */
export interface KnownOwner {
  readonly ownerReferences?: readonly KubeOwnerReference[] | null;
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly annotations?: Readonly<Record<string, string>> | null;
}

/** Finds an owner; undefined where it was not seen or may not be read. */
export type OwnerLookup = (reference: OwnerReference, namespace: string) => KnownOwner | undefined;

/** The chain of owners from a pod's controller to the top, with what each is known by. */
export interface OwnerChain {
  readonly owners: readonly OwnerReference[];
  /** The owners that were found, nearest first. */
  readonly known: readonly KnownOwner[];
  /**
   * The chain may go on: its last kind is not known, it could not be read, it loops, or it is deeper than any real one.
   */
  readonly truncated: boolean;
}

/** A LeaderWorkerSet under KServe is 5 deep; nothing real comes near twice as much. */
const MOST_OWNERS = 10;

/**
 * Walks from an object's owner references upwards: at each step to the controller, else to the first owner. A mirror
 * pod's owner is its Node, which nobody works with: it ends the chain unmentioned.
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
