import type { StoreClient } from "../../runtime/store/client.ts";
import { sqlOf, type ChargesQuestion } from "../question/question.ts";

/** What a holder had of a GPU over a time, and what it came to. Times are ISO 8601; amounts exact decimal texts. */
export interface Allocation {
  readonly cluster: string;
  readonly node: string;
  readonly gpu: number;
  readonly gpuModel: string;
  readonly namespace: string;
  readonly pod: string;
  readonly workloadKind: string;
  readonly workload: string;
  readonly workloadType: string;
  /** Who pays for most of it, by name where several pay the same. */
  readonly team: string;
  /** Of the GPU, after oversubscription was divided away: `1`, `1/4`. */
  readonly share: string;
  readonly attribution: string;
  /** Of its first and its last line in the time; there can be gaps between. */
  readonly from: string;
  readonly until: string;
  readonly gpuHours: string;
  readonly activeGpuHours: string;
  readonly unobservedGpuHours: string;
  readonly unpricedGpuHours: string;
  readonly cost: string;
}

const ISO = "'%Y-%m-%dT%H:%i:%SZ', 'UTC'";

/** Some rows of the allocations of a question, in the order of cluster, node, GPU and time. Fails with a `StoreError`. */
export async function readAllocations(
  store: Pick<StoreClient, "query">,
  question: ChargesQuestion,
  { at, rows }: { readonly at: number; readonly rows: number },
): Promise<readonly Allocation[]> {
  const { where, parameters } = sqlOf(question);
  return store.query<Allocation>(
    `SELECT cluster, node, toUInt32(slot) AS gpu, any(gpu_model) AS gpuModel, any(namespace) AS namespace, any(pod) AS pod,
       any(workload_kind) AS workloadKind, any(workload) AS workload, any(workload_type) AS workloadType,
       argMax(team, (gpu_hours, team)) AS team, share, attribution,
       formatDateTime(min(from_at) AS first, ${ISO}) AS \`from\`, formatDateTime(max(until_at), ${ISO}) AS until,
       toString(sum(gpu_hours)) AS gpuHours, toString(sumIf(gpu_hours, state = 'active')) AS activeGpuHours,
       toString(sumIf(gpu_hours, state = 'unobserved')) AS unobservedGpuHours,
       toString(sumIf(gpu_hours, effective_cost IS NULL)) AS unpricedGpuHours,
       toString(sum(ifNull(effective_cost, 0))) AS cost
     FROM (SELECT * FROM charges_published WHERE ${where} AND holder != '' AND slot IS NOT NULL)
     GROUP BY cluster, node, gpu, holder, share, attribution
     ORDER BY cluster, node, gpu, first, holder, share, attribution
     LIMIT {rows:UInt32} OFFSET {at:UInt32}`,
    { ...parameters, rows, at },
  );
}
