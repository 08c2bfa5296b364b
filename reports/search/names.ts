import type { StoreClient } from "../../runtime/store/client.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import { seesAll, type Viewer } from "../access/viewer.ts";
import { address, explainAddress, teamAddress } from "../parts/address.ts";
import { momentSql, type ChargesQuestion } from "../question/question.ts";

/** The kinds of names, in the order of results that match equally well. */
export const NAME_KINDS = ["page", "team", "namespace", "workload", "run", "pod", "node", "GPU", "model"] as const;

/** A name that a search can find. */
export interface FoundName {
  readonly kind: (typeof NAME_KINDS)[number];
  readonly name: string;
  /** Where it is: a cluster, a namespace, a team or a node. */
  readonly beside: string;
  /** The address of its page. */
  readonly to: string;
}

/** How far back a name was charged. */
const DAYS = 7;
/** The most pods of a workload that are kept. */
const MOST_PODS = 1_000;

const OF_VIEWER = "policy = {policy:String} AND ({all:Bool} OR team IN {teams:Array(String)})";
const RECENT = `from_at >= ${momentSql("from")} AND ${OF_VIEWER}`;

/** The team with most GPU-hours of a workload is its last one. Others pay for parts of it, such as time in which its GPU was withdrawn. */
const WORKLOADS = `
SELECT toString(cluster) AS cluster, toString(team) AS team, toString(namespace) AS namespace, workload, groupUniqArray(${MOST_PODS})(pod) AS pods,
  countIf(workload_type = 'training') > 0 AS isTraining
FROM charges_published WHERE ${RECENT} GROUP BY cluster, team, namespace, workload
ORDER BY sum(gpu_hours)`;

const GPUS = `
SELECT toString(cluster) AS cluster, node, toUInt32(slot) AS gpu, any(gpu_key) AS key
FROM usage_hours_published
WHERE from_at >= ${momentSql("from")} AND (cluster, node, slot) IN (
  SELECT cluster, node, slot FROM charges_published WHERE ${RECENT} AND slot IS NOT NULL)
GROUP BY cluster, node, gpu`;

const MODELS = `
SELECT DISTINCT toString(model) AS model FROM serving_charges_published
WHERE hour >= ${momentSql("from")} AND ${OF_VIEWER} AND model != ''`;

interface WorkloadRow {
  readonly cluster: string;
  readonly team: string;
  readonly namespace: string;
  readonly workload: string;
  readonly pods: readonly string[];
  readonly isTraining: boolean;
}

interface GpuRow {
  readonly cluster: string;
  readonly node: string;
  readonly gpu: number;
  readonly key: string;
}

/** Reads the names that were charged in the last 7 days, as far as a viewer may see them. Fails with a `StoreError`. */
export async function readNames(
  store: Pick<StoreClient, "query">,
  { policy, viewer, now }: { readonly policy: string; readonly viewer: Viewer; readonly now: number },
): Promise<readonly FoundName[]> {
  const parameters = {
    policy,
    from: now - DAYS * DAY_MILLIS,
    all: seesAll(viewer),
    teams: viewer.teams === "all" ? [] : viewer.teams,
  };
  const [workloads, gpus, models] = await Promise.all([
    store.query<WorkloadRow>(WORKLOADS, parameters),
    store.query<GpuRow>(GPUS, parameters),
    store.query<{ readonly model: string }>(MODELS, parameters),
  ]);
  const span = `${DAYS}d`;
  const question: ChargesQuestion = { policy, kind: "showback", span: { name: span, from: 0, until: 0 }, where: [] };
  return unique([
    ...workloads.flatMap((row) => namesOfWorkload(row, question, span)),
    ...gpus.flatMap((row) => namesOfGpu(row, span)),
    ...models.map(({ model }): FoundName => ({
      kind: "model",
      name: model,
      beside: "",
      to: address("/serving", { span, model }),
    })),
  ]);
}

function namesOfWorkload(
  { cluster, team, namespace, workload, pods, isTraining }: WorkloadRow,
  question: ChargesQuestion,
  span: string,
): readonly FoundName[] {
  const named = (kind: FoundName["kind"], name: string, beside: string, to: string): readonly FoundName[] =>
    name === "" ? [] : [{ kind, name, beside, to }];
  return [
    ...named("team", team, "", teamAddress(team, span)),
    ...named(
      "namespace",
      namespace,
      cluster,
      explainAddress(question, [{ dimension: "namespace", values: [namespace] }]),
    ),
    ...named(
      "workload",
      workload,
      `${namespace}, ${team}`,
      address("/workload", { cluster, namespace, workload, span }),
    ),
    ...(isTraining
      ? named("run", workload, `${namespace}, ${team}`, address("/training", { span, "runs.find": workload }))
      : []),
    ...pods.flatMap((pod) => named("pod", pod, namespace, address("/workload", { cluster, namespace, pod, span }))),
  ];
}

function namesOfGpu({ cluster, node, gpu, key }: GpuRow, span: string): readonly FoundName[] {
  const to = address("/gpu", { cluster, node, gpu: String(gpu), span });
  return [
    { kind: "node", name: node, beside: cluster, to: address("/node", { cluster, node, span }) },
    { kind: "GPU", name: `${node} ${gpu}`, beside: key, to },
  ];
}

/** Returns the last name of each page. */
function unique(names: readonly FoundName[]): readonly FoundName[] {
  return [...new Map(names.map((each) => [`${each.kind} ${each.to}`, each])).values()];
}
