/** A part of the fleet, as conditions on the samples and on their rollups. */
export interface SampleScope {
  readonly samples: string;
  readonly rollups: string;
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
  /** The condition on nodes; absent for the nodes that its samples have. */
  readonly nodes?: string;
  /** True if it selects pods, whose own part of a shared GPU counts. */
  readonly isOfPods: boolean;
}

/** The whole fleet. */
export const WHOLE_FLEET: SampleScope = {
  samples: "true",
  rollups: "true",
  nodes: "true",
  parameters: {},
  isOfPods: false,
};

/** Returns the scope of a node, or of a GPU by its UUID or its index on the node; empty texts do not limit it. */
export function machineScope(of: {
  readonly cluster: string;
  readonly node?: string;
  readonly gpu?: string;
  readonly uuid?: string;
}): SampleScope {
  const { cluster, node = "", gpu = "", uuid = "" } = of;
  const scope = scopeOf({ cluster, node, gpu, gpu_key: uuid }, false);
  return node === "" ? scope : { ...scope, nodes: scopeOf({ cluster, node }, false).samples };
}

/**
 * Returns the scope of the GPUs that a pod, or the pods of a workload, held. Without a cluster it is of all clusters.
 * Without a namespace it is what nobody held, as in the charges.
 */
export function podScope(of: {
  readonly cluster: string;
  readonly namespace: string;
  readonly pod: string;
  readonly workload: string;
}): SampleScope {
  const { cluster, namespace, pod, workload } = of;
  const isOf = "holder_namespace = {of_namespace:String}";
  const named = and(scopeOf({ cluster, holder_pod: pod }, true), {
    samples: isOf,
    rollups: isOf,
    parameters: { of_namespace: namespace },
  });
  if (workload === "") return named;
  const pods = `(cluster, holder_namespace, holder_pod) IN (
    SELECT cluster, namespace, pod FROM workload_facts
    WHERE namespace = {of_namespace:String} AND workload = {of_workload:String})`;
  return and(named, { samples: pods, rollups: pods, parameters: { of_workload: workload } });
}

/** Returns the scope of what the pods of some namespaces held. */
export function namespacesScope(namespaces: readonly string[]): SampleScope {
  const sql = "holder_namespace IN {of_namespaces:Array(String)}";
  return { samples: sql, rollups: sql, parameters: { of_namespaces: namespaces }, isOfPods: true };
}

/** Returns the part of a scope that some pods hold, by their UIDs: of a shared GPU only what was measured for each pod. */
export function heldBy(scope: SampleScope, uids: readonly string[]): SampleScope {
  const isOf = (column: string): string => `${column} IN {of_uids:Array(String)}`;
  const samples = `${isOf("holder_uid")} AND (holders = 1 OR process_activity_ppm IS NOT NULL)`;
  return { ...and(scope, { samples, rollups: isOf("pod_uid"), parameters: { of_uids: uids } }), isOfPods: true };
}

function and(scope: SampleScope, more: Omit<SampleScope, "isOfPods" | "nodes">): SampleScope {
  return {
    ...scope,
    samples: `${scope.samples} AND ${more.samples}`,
    rollups: `${scope.rollups} AND ${more.rollups}`,
    parameters: { ...scope.parameters, ...more.parameters },
  };
}

function scopeOf(columns: Readonly<Record<string, string>>, isOfPods: boolean): SampleScope {
  const given = Object.entries(columns).filter(([, value]) => value !== "");
  const sql = given.map(([column]) => `${column} = {of_${column}:String}`).join(" AND ") || "true";
  return {
    samples: sql,
    rollups: sql,
    parameters: Object.fromEntries(given.map(([column, value]) => [`of_${column}`, value])),
    isOfPods,
  };
}
