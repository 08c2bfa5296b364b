import type { ClusterHoldings, Holding, NodeHoldings } from "../../../domain/holding.ts";
import type { NodeGpus } from "../../../domain/inventory.ts";
import { createClaims, type Claim, type Slice } from "../../../domain/attribution/claims.ts";

/** The holdings of one cluster, with functions to change them. A put replaces the previous value. */
export interface ClusterIndex extends ClusterHoldings {
  putPod(uid: string, pod: Holding | undefined): void;
  putGpus(node: string, gpus: readonly NodeGpus[]): void;
  putClaim(uid: string, claim: Claim | undefined): void;
  putSlice(uid: string, slice: Slice | undefined): void;
}

interface NodeIndex extends NodeHoldings {
  version: number;
  pods: readonly Holding[];
  gpus: readonly NodeGpus[];
}

/** Creates an empty index of a cluster. Putting an equal value again changes no version. */
export function createClusterIndex(): ClusterIndex {
  const nodes = new Map<string, NodeIndex>();
  const pods = new Map<string, Holding>();
  const names = new Map<string, readonly Holding[]>();
  const claims = createClaims();
  let version = 0;

  function change(name: string, given: Partial<Pick<NodeIndex, "pods" | "gpus">>): void {
    const node = nodes.get(name) ?? { version: 0, pods: [], gpus: [], claimed: claims.of };
    nodes.set(name, Object.assign(node, given));
    if (node.pods.length === 0 && node.gpus.length === 0) nodes.delete(name);
    node.version += 1;
    version += 1;
  }

  /** Raises the versions of the nodes of known pods. */
  function changeOf(uids: readonly string[]): void {
    for (const uid of uids) {
      const pod = pods.get(uid);
      if (pod !== undefined) change(pod.node, {});
    }
  }

  return {
    get version() {
      return version;
    },
    node: (name) => nodes.get(name),
    named: (namespace, name) => names.get(nameOf({ namespace, name })) ?? [],
    pod: (uid) => pods.get(uid),
    putPod(uid, pod) {
      const before = pods.get(uid);
      if (isSameHolding(before, pod)) return;
      if (pod === undefined) pods.delete(uid);
      else pods.set(uid, pod);
      const listed = (list: readonly Holding[] | undefined, isOn: boolean): readonly Holding[] => {
        const others = (list ?? []).filter((one) => one !== before);
        return isOn && pod !== undefined ? [...others, pod].sort(byName) : others;
      };
      const concerned = [before, pod].filter((one) => one !== undefined);
      for (const name of new Set(concerned.map(nameOf))) {
        const list = listed(names.get(name), pod !== undefined && nameOf(pod) === name);
        if (list.length === 0) names.delete(name);
        else names.set(name, list);
      }
      for (const node of new Set(concerned.map((one) => one.node))) {
        change(node, { pods: listed(nodes.get(node)?.pods, pod?.node === node) });
      }
    },
    putGpus(node, gpus) {
      if (!isSame(nodes.get(node)?.gpus ?? [], gpus)) change(node, { gpus });
    },
    putClaim: (uid, claim) => changeOf(claims.putClaim(uid, claim)),
    putSlice: (uid, slice) => changeOf(claims.putSlice(uid, slice)),
  };
}

function nameOf({ namespace, name }: Pick<Holding, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}

function byName(a: Holding, b: Holding): number {
  return compare(a.namespace, b.namespace) || compare(a.name, b.name) || compare(a.uid, b.uid);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Returns whether two holdings are equal for the join. Many facts only change fields that the join does not use. */
function isSameHolding(a: Holding | undefined, b: Holding | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.from === b.from &&
    a.until === b.until &&
    a.node === b.node &&
    nameOf(a) === nameOf(b) &&
    isSame(a.asks, b.asks) &&
    isSame(a.evidence, b.evidence)
  );
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
