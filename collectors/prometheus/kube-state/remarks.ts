import { nameOfObject, type KubeObject } from "../../kubernetes/projection/kube-object.ts";
import type { Remark } from "../../kubernetes/projection/remark.ts";

/** Data that facts lack or that an import had to replace, with the number of objects. */
export interface ImportRemark {
  /** A sentence, with the setting of kube-state-metrics that exports the data, if there is one. */
  readonly text: string;
  /** The number of objects; a pod and a later pod of the same name are two. */
  readonly count: number;
  /** The first of these objects, such as `Pod ml/train-0`. */
  readonly example: string;
}

/** The remarks of an import. */
export interface ImportRemarks {
  /** Counts an object for a remark. */
  add(remark: MissingData | { readonly text: string }, object: string): void;
  /** Counts the remarks of the projection on an object. */
  addProjected(object: KubeObject, remarks: readonly Remark[]): void;
  /** Returns all remarks, highest count first. */
  all(): readonly ImportRemark[];
}

/** Data that is missing in the series, or that was replaced by a guess. */
export type MissingData =
  | "labels of pods"
  | "labels of nodes"
  | "labels of namespaces"
  | "uid"
  | "created"
  | "node created"
  | "scheduled"
  | "started"
  | "finished"
  | "owner of ReplicaSet"
  | "owner of Job"
  | "limits"
  | "images";

const TEXTS: Readonly<Record<MissingData, string>> = {
  "labels of pods": "Pods have no labels in the series, so owner rules by a label of the pod match none of them.",
  "labels of nodes":
    "Nodes have no labels in the series, so their GPU model, instance type, zone and pool are not known from them. For later data, start kube-state-metrics with --metric-labels-allowlist=nodes=[*].",
  "labels of namespaces":
    "Namespaces have no labels in the series, so owner rules by a label of the namespace match none of them.",
  uid: "Pods have no UID in the series. They get one from their namespace, name and creation time. A collector's facts of the same pod have another one.",
  created: "Pods have no creation time in the series. The time of their first sample replaces it.",
  "node created": "Nodes have no creation time in the series. The time of their first sample replaces it.",
  scheduled: "Pods have no time of binding in the series. The first sample with their node replaces it.",
  started: "Pods have no start time of a container in the series. The first sample of a running container replaces it.",
  finished: "Pods have no end of a container in the series. The first sample in which they had finished replaces it.",
  "owner of ReplicaSet":
    "ReplicaSets have no owner in the series. The name of their Deployment is guessed from their own.",
  "owner of Job": "Jobs have no owner in the series. The name of their CronJob is guessed from their own.",
  images: "Pods have no images in the series, so it is unknown whether their images are pinned.",
  limits: "Pods have no limits of GPUs in the series. Their requests replace them.",
};

/** The parts of facts that kube-state-metrics never exports. */
export const NEVER_EXPORTED: readonly string[] = [
  "the devices of a pod in its status, so holders are found by the exporters' labels and the requests",
  "claims of DRA and the devices of their drivers",
  "arguments and environment variables, so checkpoints in them are unknown",
  "the selectors of PodDisruptionBudgets, and the gangs and queues of Volcano, KAI and Grove",
  "the messages of the scheduler, the reasons of node conditions and the times of taints",
  "the order of init containers",
];

/** The most different remarks of projections. Further ones are counted together. */
const MOST_TEXTS = 500;
const FURTHER = "Further remarks on objects are not listed.";

/** Creates an empty list. `names` are the labels that the configuration needs, for the setting that exports them. */
export function createImportRemarks(names: readonly string[]): ImportRemarks {
  const found = new Map<string, { count: number; readonly example: string }>();

  function textOf(remark: MissingData | { readonly text: string }): string {
    if (typeof remark !== "string") return remark.text;
    const [, resource] = /^labels of (pods|namespaces)$/.exec(remark) ?? [];
    if (resource === undefined || names.length === 0) return TEXTS[remark];
    const setting = `--metric-labels-allowlist=${resource}=[${names.join(",")}]`;
    return `${TEXTS[remark]} For later data, start kube-state-metrics with ${setting}.`;
  }

  function add(remark: MissingData | { readonly text: string }, object: string): void {
    const text = textOf(remark);
    const key = found.has(text) || found.size < MOST_TEXTS ? text : FURTHER;
    const known = found.get(key);
    if (known === undefined) found.set(key, { count: 1, example: object });
    else known.count += 1;
  }

  return {
    add,
    addProjected(object, remarks) {
      for (const { text } of remarks) add({ text }, nameOfObject(object));
    },
    all: () =>
      [...found].map(([text, { count, example }]) => ({ text, count, example })).toSorted((a, b) => b.count - a.count),
  };
}
