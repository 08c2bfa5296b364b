import { among, byHour, CHARGES, chosen, CLUSTERS, IN_TIME, money, policyVariable, STEP } from "../ledger.ts";
import { cell, toDashboard, UIDS } from "../links.ts";
import { MILLIS, NEWEST, USAGE, WITH_NEWEST } from "../usage.ts";
import type { Dashboard } from "../model.ts";
import { section, type PanelDraft } from "../section.ts";
import type { DashboardOptions } from "../options.ts";
import { instant, sqlRange, sqlRows } from "../queries.ts";

const NOT_METERED = "No GPU of these clusters was metered in this time.";
const gpus = { unit: "short", decimals: 1 } as const;
const hours = { unit: "none", decimals: 1 } as const;

const METERED = `$__timeFilter(from_at) AND ${among("cluster")}`;
/** The way in which a GPU is assigned. */
const LAYOUT = "JSONExtractString(gpu_at, 'layout', 'kind')";
/** The subject of a claim: an instance's number, a replica, a part in words. */
const HELD = "JSONExtractString(claim, 'held', 'what')";

/** SQL for each MIG instance of the newest hour, in its last layout, and whether it had a holder then. */
const INSTANCES = `SELECT cluster, node, slot, model, instance.1 AS id, instance.2 AS profile, toUInt8OrZero(extract(instance.2, '(\\\\d+)g\\\\.')) AS slices,
    has(taken, id) AS isHeld
  FROM (
    SELECT cluster, node, slot, JSONExtractString(argMax(gpu_at, from_at) AS cut, 'model') AS model,
      JSONExtract(cut, 'layout', 'instances', 'Array(Tuple(id String, profile String))') AS instances,
      arrayMap(claim -> coalesce(nullIf(JSONExtractString(claim, 'held', 'instance'), ''), JSONExtractString(claim, 'held', 'part')), argMax(claims, from_at)) AS taken
    FROM ${USAGE} WHERE ${NEWEST} AND ${LAYOUT} = 'mig' GROUP BY cluster, node, slot)
  ARRAY JOIN instances AS instance`;

const regimes = ({ clusterLabel: cluster }: DashboardOptions): readonly PanelDraft[] => [
  {
    title: "GPUs by sharing",
    description:
      "GPUs of each hour: whole, in MIG instances, shared as replicas by time-slicing or MPS, or in AMD's partitions. A step is a change of the configuration.",
    view: { kind: "series", isStacked: true, isBars: true },
    ...gpus,
    queries: [
      sqlRange(`SELECT ${STEP} AS time, ${LAYOUT} AS name, ${byHour(`sum(${MILLIS}) / 3600000`)} AS Value
FROM ${USAGE} WHERE ${METERED} GROUP BY time, name ORDER BY time, name`),
    ],
    empty: NOT_METERED,
    height: 9,
  },
  {
    title: "Held GPUs and parts",
    description:
      "Held GPUs and parts of the newest metered hour: a whole GPU, an instance, replicas, a part by HAMi or Volcano (vgpu), a fraction by KAI or Run:ai, or devices in common, for " +
      "which the holder of each one is unknown.",
    view: {
      kind: "table",
      columns: [
        { field: "held", title: "held" },
        { field: "evidence", title: "known by" },
        { field: "who", title: "holders", unit: "short", decimals: 0 },
        { field: "parts", title: "GPUs or parts", ...gpus },
      ],
      sortedBy: "GPUs or parts",
    },
    unit: "none",
    queries: [
      sqlRows(`${WITH_NEWEST}
SELECT ${HELD} AS held, JSONExtractString(claim, 'evidence') AS evidence, uniqExact(holder) AS who, sum(${MILLIS}) / 3600000 AS parts
FROM ${USAGE} ARRAY JOIN claims AS claim, holders AS holder WHERE ${NEWEST} GROUP BY held, evidence ORDER BY parts DESC`),
    ],
    empty: "No GPU was held in that hour.",
  },
  {
    title: "Shared GPUs now",
    description: "GPUs and instances with several pods in their exporter's page, or on a node with replicas.",
    decimals: 0,
    queries: [instant(`count(gpu:device_replicas:count{${cluster}=~"$cluster"}) or on () vector(0)`)],
    empty: "No exporter reports a GPU.",
    width: 6,
  },
  {
    title: "Nodes of shared GPUs",
    description:
      "Nodes with replicas: the number of replicas, the pods that hold one, and the activity of the GPUs. Few pods: sharing is not needed. Many pods on busy GPUs: they slow each other down.",
    view: {
      kind: "table",
      columns: [
        { field: "cluster", title: "cluster" },
        {
          field: "node",
          title: "node",
          link: toDashboard("gpu", "The node and its GPUs", { cluster: cell("cluster"), node: cell("node") }),
        },
        { field: "gpus", title: "GPUs", unit: "short", decimals: 0 },
        { field: "replicas", title: "replicas of a GPU", unit: "short", decimals: 0 },
        { field: "pods", title: "holders", unit: "short", decimals: 0 },
        { field: "busy", title: "busy", unit: "percentunit", decimals: 1 },
      ],
      sortedBy: "holders",
    },
    unit: "none",
    queries: [
      sqlRows(`${WITH_NEWEST}
SELECT cluster, node, uniqExact(slot) AS gpus, max(JSONExtractUInt(gpu_at, 'layout', 'replicas')) AS replicas,
  length(groupUniqArrayArray(holders)) AS pods, sum(busy_ms) / sum(${MILLIS}) AS busy
FROM ${USAGE} WHERE ${NEWEST} AND ${LAYOUT} = 'shared' GROUP BY cluster, node ORDER BY pods DESC, cluster, node LIMIT 500`),
    ],
    empty: "No node has replicas of its GPUs.",
    width: 18,
    height: 5,
  },
];

const mig = (): readonly PanelDraft[] => [
  {
    title: "MIG instances by profile",
    description:
      "Instances of the newest hour, held and free. Pods wait if no instance of their profile is free, even if other profiles have free instances.",
    view: {
      kind: "table",
      columns: [
        { field: "model", title: "model" },
        { field: "profile", title: "profile" },
        { field: "instances", title: "instances", unit: "short", decimals: 0 },
        { field: "held", title: "held", unit: "short", decimals: 0 },
        {
          field: "free",
          title: "free",
          unit: "short",
          decimals: 0,
          thresholds: [{ color: "orange" }, { color: "green", from: 1 }],
        },
      ],
      sortedBy: "instances",
    },
    unit: "none",
    queries: [
      sqlRows(`${WITH_NEWEST}
SELECT model, profile, count() AS instances, countIf(isHeld) AS held, countIf(NOT isHeld) AS free
FROM (${INSTANCES}) GROUP BY model, profile ORDER BY instances DESC, model, profile`),
    ],
    empty: "No GPU is in MIG mode.",
    width: 10,
  },
  {
    title: "Free compute slices",
    description:
      "GPUs in MIG mode by their free compute slices: in free instances, or in no instance. Many GPUs with one or two free slices each are fragments: no larger " +
      "profile fits, even if the sum is large enough. Drain a GPU and change its layout.",
    view: {
      kind: "table",
      columns: [
        { field: "model", title: "model" },
        { field: "free", title: "free slices of 7", unit: "short", decimals: 0 },
        { field: "uncut", title: "of them not cut", unit: "short", decimals: 0 },
        { field: "largest", title: "largest free instance" },
        { field: "gpus", title: "GPUs", unit: "short", decimals: 0 },
      ],
      sortedBy: "free slices of 7",
    },
    unit: "none",
    queries: [
      sqlRows(`${WITH_NEWEST}
SELECT model, 7 - held AS free, 7 - cut AS uncut, largest, count() AS gpus
FROM (
  SELECT cluster, node, slot, any(model) AS model, sum(slices) AS cut, sumIf(slices, isHeld) AS held, argMaxIf(profile, slices, NOT isHeld) AS largest
  FROM (${INSTANCES}) GROUP BY cluster, node, slot)
GROUP BY model, free, uncut, largest ORDER BY free DESC, gpus DESC`),
    ],
    empty: "No GPU is in MIG mode.",
    width: 14,
  },
];

const stranded = (options: DashboardOptions): readonly PanelDraft[] => {
  const unit = { unit: money(options), decimals: 2 } as const;
  const charged = `${IN_TIME} AND policy = ${chosen("policy")} AND ${among("cluster")} AND state = 'stranded'`;
  const nothing = "No part is stranded: every free part of a GPU can be allocated.";
  return [
    {
      title: "Stranded cost per hour",
      description:
        "The cost of GPU parts that cannot be allocated: slices without an instance, memory without compute, the rest beside a fraction. Another layout would make them usable.",
      view: { kind: "series", isStacked: true, isBars: true },
      ...unit,
      queries: [
        sqlRange(`SELECT ${STEP} AS time, gpu_model AS name, ${byHour("toFloat64(sum(effective_cost))")} AS Value
FROM ${CHARGES} WHERE ${charged} AND effective_cost IS NOT NULL GROUP BY time, name ORDER BY time, name`),
      ],
      empty: nothing,
      height: 9,
    },
    {
      title: "Stranded by pool",
      description: "The stranded cost by place and reason. Look first at the layout with the highest cost.",
      view: {
        kind: "table",
        columns: [
          { field: "cluster", title: "cluster" },
          { field: "pool", title: "pool" },
          { field: "gpu_model", title: "model" },
          { field: "because", title: "because" },
          { field: "hours", title: "GPU-hours", ...hours },
          { field: "cost", title: "cost", ...unit },
        ],
        sortedBy: "cost",
      },
      unit: "none",
      queries: [
        sqlRows(`SELECT cluster, pool, gpu_model, because, sum(gpu_hours) AS hours, sum(ifNull(effective_cost, 0)) AS cost
FROM ${CHARGES} WHERE ${charged} GROUP BY cluster, pool, gpu_model, because ORDER BY cost DESC, cluster, pool`),
      ],
      empty: nothing,
    },
  ];
};

/** Returns the dashboard of divided and shared GPUs, of their unusable parts, and of their cost. */
export function sharingDashboard(options: DashboardOptions): Dashboard {
  return {
    uid: UIDS.sharing,
    title: "GPU sharing",
    description:
      "The layout and sharing of GPUs, the holders of parts, the free parts, and the cost of stranded parts.",
    variables: [policyVariable(options), CLUSTERS],
    annotations: [],
    sections: [
      section("Sharing of GPUs", regimes(options)),
      section("MIG", mig()),
      section("Stranded", stranded(options)),
    ],
    from: "now-7d",
    refresh: "5m",
  };
}
