import type { StoreClient } from "../../runtime/store/client.ts";
import { sqlOf, type ChargesQuestion } from "../question/question.ts";

/** A holder's part of a GPU over a time, with its sums. Times are ISO 8601; amounts exact decimal texts. */
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
  /** The team that pays most of it; the first by name if several pay the same. */
  readonly team: string;
  /** The part of the GPU, divided by the oversubscription: `1`, `1/4`. */
  readonly share: string;
  readonly attribution: string;
  /** The times of its first and its last line. There can be gaps between them. */
  readonly from: string;
  readonly until: string;
  readonly gpuHours: string;
  readonly activeGpuHours: string;
  readonly unobservedGpuHours: string;
  readonly unpricedGpuHours: string;
  readonly cost: string;
}

const ISO = "'%Y-%m-%dT%H:%i:%SZ', 'UTC'";

/** A position in the order of allocations: the row after which reading continues. */
export type AllocationPosition = readonly [
  cluster: string,
  node: string,
  gpu: number,
  holder: string,
  share: string,
  attribution: string,
];

/** Rows of allocations, and the position of the next page; undefined after the last. */
export interface AllocationPage {
  readonly rows: readonly Allocation[];
  readonly next: AllocationPosition | undefined;
}

/**
 * Reads some allocations of a question, in the order of cluster, node, GPU and holder, after a position or from the first. A position stays valid
 * after new publications. Fails with a `StoreError`.
 */
export async function readAllocations(
  store: Pick<StoreClient, "query">,
  question: ChargesQuestion,
  { after, rows }: { readonly after: AllocationPosition | undefined; readonly rows: number },
): Promise<AllocationPage> {
  const { where, parameters } = sqlOf(question);
  const [cluster = "", node = "", gpu = 0, holder = "", share = "", attribution = ""] = after ?? [];
  const beyond =
    "(cluster, node, gpu, holder, share, attribution) > ({c:String}, {n:String}, {g:UInt32}, {h:String}, {s:String}, {a:String})";
  const found = await store.query<Allocation & { readonly holder: string }>(
    `SELECT cluster, node, toUInt32(slot) AS gpu, holder, any(gpu_model) AS gpuModel, any(namespace) AS namespace, any(pod) AS pod,
       any(workload_kind) AS workloadKind, any(workload) AS workload, any(workload_type) AS workloadType,
       argMax(team, (gpu_hours, team)) AS team, share, attribution,
       formatDateTime(min(from_at), ${ISO}) AS \`from\`, formatDateTime(max(until_at), ${ISO}) AS until,
       toString(sum(gpu_hours)) AS gpuHours, toString(sumIf(gpu_hours, state = 'active')) AS activeGpuHours,
       toString(sumIf(gpu_hours, state = 'unobserved')) AS unobservedGpuHours,
       toString(sumIf(gpu_hours, effective_cost IS NULL)) AS unpricedGpuHours,
       toString(sum(ifNull(effective_cost, 0))) AS cost
     FROM (SELECT * FROM charges_published WHERE ${where} AND holder != '' AND slot IS NOT NULL
       AND (cluster, node) >= ({c:String}, {n:String}))
     GROUP BY cluster, node, gpu, holder, share, attribution
     HAVING ${beyond}
     ORDER BY cluster, node, gpu, holder, share, attribution
     LIMIT {limit:UInt32}`,
    { ...parameters, limit: rows + 1, c: cluster, n: node, g: gpu, h: holder, s: share, a: attribution },
  );
  const shown = found.slice(0, rows);
  const last = found.length > rows ? shown.at(-1) : undefined;
  return {
    rows: shown.map((one) => {
      const { holder: _, ...row } = one;
      return row;
    }),
    next: last && [last.cluster, last.node, last.gpu, last.holder, last.share, last.attribution],
  };
}
