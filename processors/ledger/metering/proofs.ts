import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { ProvenLabel, RecordedPod, Span } from "../plan/node-record.ts";
import { PROOF_COLUMNS, type ProofRow } from "../../../runtime/store/schema/meter.ts";
import { createBlocks, namesOf } from "../../../runtime/store/schema/table.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";

interface FoundProof extends ProvenLabel {
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
  const proofs = new Map<string, ProvenLabel[]>();
  if (holdings.length === 0) return proofs;
  const rows = await store.query<FoundProof>(PROOFS, {
    cluster,
    nodes: [...pods.keys()],
    pods: [...new Set(holdings.map(({ name }) => name))],
    since: Math.min(...holdings.map(({ from }) => from)),
  });
  for (const { node, ...label } of rows) {
    const known = proofs.get(node);
    if (known === undefined) proofs.set(node, [label]);
    else known.push(label);
  }
  return proofs;
}

/** Stores what samples have proven, for other hours of the same pods. Fails with a `StoreError`. */
export async function keepProofs(
  store: StoreClient,
  cluster: string,
  proofs: readonly { readonly node: string; readonly label: ProvenLabel }[],
): Promise<void> {
  if (proofs.length === 0) return;
  const rows = createBlocks<ProofRow>(PROOF_COLUMNS);
  for (const { node, label } of proofs) {
    const { namespace, pod, podUid, slot, part, at } = label;
    rows.write({ cluster, node, namespace, pod, pod_uid: podUid, slot, instance: part, seen_at: at });
  }
  await store.insertRows("label_proofs", namesOf(PROOF_COLUMNS), rows.take());
}

/**
 * Returns the hours of a cluster with published usage that overlap any of the spans, except one hour, in order. Fails with a `StoreError`.
 */
export async function hoursMetered(
  store: StoreClient,
  cluster: string,
  spans: readonly Span[],
  except: number,
): Promise<readonly number[]> {
  if (spans.length === 0) return [];
  const rows = await store.query<{ start: number }>(
    `SELECT DISTINCT toFloat64(toUnixTimestamp(window_start)) * 1000 AS start FROM runs
     WHERE kind = 'usage' AND cluster = {cluster:String} ORDER BY start`,
    { cluster },
  );
  const hours = rows.map(({ start }) => start);
  return hours.filter(
    (start) => start !== except && spans.some(({ from, until }) => start < until && from < start + HOUR_MILLIS),
  );
}
