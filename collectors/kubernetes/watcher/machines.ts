import type { ClusterFactBodies, SliceDevice } from "../../../domain/cluster-fact.ts";
import { given } from "../projection/wire.ts";
import type { NodeObject } from "../projection/node-object.ts";
import type { SeenObject } from "./seen-object.ts";

/** The latest Node, with the fields that its projection reads. */
export interface KnownNode {
  readonly object: SeenObject & NodeObject;
  readonly resourceVersion: string;
}

/** Nodes with the devices that DRA drivers publish for them. Both arrive in any order. */
export interface Machines {
  takeNode(object: SeenObject, resourceVersion: string): void;
  dropNode(uid: string): void;
  /** Sets the newest state of a slice; undefined if it was deleted. Returns the nodes whose published devices have changed. */
  takeSlice(uid: string, slice: ClusterFactBodies["ResourceSlice"] | undefined): readonly KnownNode[];
  slicesOf(node: string): readonly SliceDevice[];
}

/** Creates an empty set of nodes and slices. It keeps only the fields of a node that its projection reads. */
export function createMachines(): Machines {
  const nodes = new Map<string, KnownNode>();
  const names = new Map<string, string>();
  const slices = new Map<string, ClusterFactBodies["ResourceSlice"]>();
  const byNode = new Map<string, Set<string>>();

  function slicesOf(node: string): readonly SliceDevice[] {
    return [...(byNode.get(node) ?? [])].sort().flatMap((uid) => slices.get(uid)!.devices);
  }

  return {
    slicesOf,
    takeNode(object, resourceVersion) {
      const { uid, name = "" } = object.metadata;
      names.set(uid, name);
      nodes.set(name, { object: keptOf(object), resourceVersion });
    },
    dropNode(uid) {
      const name = names.get(uid);
      names.delete(uid);
      if (name !== undefined && nodes.get(name)?.object.metadata.uid === uid) nodes.delete(name);
    },
    takeSlice(uid, slice) {
      const touched = new Set([slices.get(uid)?.node, slice?.node].filter((name) => name !== undefined));
      const before = new Map([...touched].map((name) => [name, JSON.stringify(slicesOf(name))]));
      for (const name of touched) byNode.get(name)?.delete(uid);
      if (slice === undefined) slices.delete(uid);
      else {
        slices.set(uid, slice);
        byNode.set(slice.node, (byNode.get(slice.node) ?? new Set()).add(uid));
      }
      return [...touched].flatMap((name) =>
        before.get(name) === JSON.stringify(slicesOf(name)) ? [] : (nodes.get(name) ?? []),
      );
    },
  };
}

/** Returns the fields to keep. Images, addresses and managed fields, which are most of a Node, are dropped. */
function keptOf({ metadata, spec, status, ...rest }: SeenObject & NodeObject): KnownNode["object"] {
  const { name, uid, creationTimestamp, labels, annotations } = metadata;
  const { capacity, allocatable, conditions } = status ?? {};
  return {
    ...rest,
    metadata: { uid, ...given({ name, creationTimestamp, labels, annotations }) },
    spec: given({ unschedulable: spec?.unschedulable, taints: spec?.taints }),
    status: given({ capacity, allocatable, conditions }),
  };
}
