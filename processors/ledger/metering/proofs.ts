import { groupedBy } from "../../../domain/grouped.ts";
import type { ProvenLabel, RecordedPod } from "../plan/node-record.ts";
import { PROOF_COLUMNS, type ProofRow } from "../../../runtime/store/schema/meter.ts";
import { createBlocks, namesOf } from "../../../runtime/store/schema/table.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";

/** A proof by a sample about a pod of a node. */
export interface FoundProof extends ProvenLabel {
  readonly node: string;
}

const PROOFS = `
SELECT DISTINCT node, slot, instance AS part, namespace, pod, pod_uid AS podUid, toFloat64(toUnixTimestamp64Milli(seen_at)) AS at
FROM label_proofs
WHERE cluster = {cluster:String} AND node IN {nodes:Array(String)} AND pod IN {pods:Array(String)}
  AND seen_at >= fromUnixTimestamp64Milli({since:Int64})`;

/** Reads what labels have proven about the pods of some nodes in any metered hour, by node. Fails with a `StoreError`. */
export async function readProofs(
  store: StoreClient,
  cluster: string,
  pods: ReadonlyMap<string, ReadonlyMap<string, RecordedPod>>,
): Promise<ReadonlyMap<string, readonly ProvenLabel[]>> {
  const holdings = [...pods.values()].flatMap((ofNode) => [...ofNode.values()].map(({ holding }) => holding));
  if (holdings.length === 0) return new Map();
  return together(store, readAllProofs, {
    cluster,
    nodes: [...pods.keys()],
    pods: holdings.map(({ name }) => name),
    since: Math.min(...holdings.map(({ from }) => from)),
  });
}

async function readAllProofs(
  store: StoreClient,
  all: readonly {
    readonly cluster: string;
    readonly nodes: readonly string[];
    readonly pods: readonly string[];
    readonly since: number;
  }[],
): Promise<readonly ReadonlyMap<string, readonly ProvenLabel[]>[]> {
  const rows = await store.query<FoundProof>(PROOFS, {
    cluster: all[0]!.cluster,
    nodes: [...new Set(all.flatMap(({ nodes }) => nodes))],
    pods: [...new Set(all.flatMap(({ pods }) => pods))],
    since: Math.min(...all.map(({ since }) => since)),
  });
  return all.map(({ nodes, pods, since }) => {
    const [ofNodes, ofPods] = [new Set(nodes), new Set(pods)];
    const proofs = rows.filter(({ node, pod, at }) => ofNodes.has(node) && ofPods.has(pod) && at >= since);
    return groupedBy(proofs, ({ node }) => node);
  });
}

/**
 * Stores what samples have proven, for other hours of the same pods. Returns it with what the hours have proven that are metered in step with
 * this one. Fails with a `StoreError`.
 */
export function shareProofs(
  store: StoreClient,
  cluster: string,
  proofs: readonly FoundProof[],
): Promise<readonly FoundProof[]> {
  return together(store, shareAll, { cluster, proofs });
}

async function shareAll(
  store: StoreClient,
  asked: readonly { readonly cluster: string; readonly proofs: readonly FoundProof[] }[],
): Promise<readonly (readonly FoundProof[])[]> {
  const { cluster } = asked[0]!;
  const all = asked.flatMap(({ proofs }) => proofs);
  const rows = createBlocks<ProofRow>(PROOF_COLUMNS);
  for (const { node, namespace, pod, podUid, slot, part, at } of all)
    rows.write({ cluster, node, namespace, pod, pod_uid: podUid, slot, instance: part, seen_at: at });
  if (all.length > 0) await store.insertRows("label_proofs", namesOf(PROOF_COLUMNS), rows.take());
  return asked.map(() => all);
}

/** Returns the identity of a proof. */
export function proofKey({ node, slot, part, namespace, pod, podUid, at }: FoundProof): string {
  return JSON.stringify([node, slot, part, namespace, pod, podUid, at]);
}
