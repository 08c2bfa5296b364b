import { IMPORTED_UID } from "../../../domain/inventory.ts";
import type { KubeCondition } from "../../kubernetes/projection/kube-object.ts";
import type { NodeObject } from "../../kubernetes/projection/node-object.ts";
import type { SeenObject } from "../../kubernetes/watcher/seen-object.ts";
import { livesOf } from "./lives.ts";
import type { Played } from "./play.ts";
import type { NameReaders } from "./pod-object.ts";
import type { Presence } from "./presence.ts";
import { quantitiesAt } from "./quantities.ts";
import type { ImportRemarks } from "./remarks.ts";
import { labelOf, rowsByObject, type Row } from "./row.ts";
import type { States } from "./states.ts";
import { timestamp } from "./timestamp.ts";

const METRICS = { info: "kube_node_info", created: "kube_node_created" };
const STATUSES: Readonly<Record<string, string>> = { true: "True", false: "False", unknown: "Unknown" };

/** Returns the lives of the nodes of rows, node by node. Rows about other objects are left out. */
export function* importedNodes(
  rows: Iterable<Row>,
  presence: Presence,
  readers: NameReaders,
  remarks: ImportRemarks,
): Generator<Played> {
  for (const [name, ofNode] of rowsByObject(rows, keyOf)) {
    for (const life of livesOf(ofNode, METRICS, presence)) {
      const createdMillis = life.createdMillis ?? life.states.firstMillis;
      if (life.createdMillis === undefined) remarks.add("node created", `Node ${name}`);
      if (life.states.rows("kube_node_labels").length === 0) remarks.add("labels of nodes", `Node ${name}`);
      // The UID of a Node is not exported. Its creation separates it from another machine with the name.
      const uid = `${IMPORTED_UID}${name}/${createdMillis}`;
      // The first sample of a new node comes a little later than the node.
      const isNew = life.states.firstMillis - createdMillis < presence.lateMillis;
      const beginMillis = isNew ? createdMillis : life.states.firstMillis;
      const node = { name, uid, createdMillis, beginMillis, states: life.states };
      const objectAt = (atMillis: number): SeenObject => nodeAt(node, atMillis, readers);
      yield { resource: "nodes", uid, life, moments: [createdMillis], objectAt };
    }
  }
}

function keyOf(row: Row): string | undefined {
  return row.metric.startsWith("kube_node_") ? labelOf(row, "node") || undefined : undefined;
}

interface ImportedNode {
  readonly name: string;
  readonly uid: string;
  readonly createdMillis: number;
  /** The beginning of the conditions that the first sample has. */
  readonly beginMillis: number;
  readonly states: States;
}

/** Returns the Node object at a time. The times of taints and the reasons of conditions are not exported. */
function nodeAt(
  { name, uid, createdMillis, beginMillis, states }: ImportedNode,
  atMillis: number,
  { labels, resources }: NameReaders,
): NodeObject & SeenObject {
  const labelRow = states.trueRows("kube_node_labels", atMillis).at(-1);
  const annotationRow = states.trueRows("kube_node_annotations", atMillis).at(-1);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      uid,
      creationTimestamp: timestamp(createdMillis),
      labels: labelRow === undefined ? {} : labels.labels(labelRow),
      annotations: annotationRow === undefined ? {} : labels.annotations(annotationRow),
    },
    spec: {
      providerID: providerIdAt(states, atMillis),
      unschedulable: states.valueAt("kube_node_spec_unschedulable", atMillis) === 1,
      taints: states.trueRows("kube_node_spec_taint", atMillis).map((row) => ({
        key: labelOf(row, "key"),
        value: labelOf(row, "value"),
        effect: labelOf(row, "effect"),
      })),
    },
    status: {
      capacity: quantitiesAt(states, "kube_node_status_capacity", atMillis, resources),
      allocatable: quantitiesAt(states, "kube_node_status_allocatable", atMillis, resources),
      conditions: conditionsAt(states, beginMillis, atMillis),
    },
  };
}

/** Returns the id at the cloud at a time; null if the series has none. */
function providerIdAt(states: States, atMillis: number): string | null {
  const info = states.trueRows(METRICS.info, atMillis).at(-1);
  return (info && labelOf(info, "provider_id")) || null;
}

/** Returns the conditions at a time. A condition begins with the first sample that has it. */
function conditionsAt(states: States, beginMillis: number, atMillis: number): readonly KubeCondition[] {
  return states.trueRows("kube_node_status_condition", atMillis).map((row) => {
    const since = row.runs.findLast(({ value, fromMillis }) => value !== 0 && fromMillis <= atMillis)?.fromMillis;
    const isFirst = since === undefined || since === states.firstMillis;
    return {
      type: labelOf(row, "condition"),
      status: STATUSES[labelOf(row, "status").toLowerCase()] ?? "Unknown",
      lastTransitionTime: timestamp(isFirst ? beginMillis : since),
    };
  });
}
