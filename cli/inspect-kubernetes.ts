import { COUNTED_BY } from "../domain/share/node-gpus.ts";
import type { InspectedObject, ObjectInspection } from "../collectors/kubernetes/inspect.ts";
import type { NodeGpus } from "../domain/inventory.ts";
import type { DeviceEvidence, GpuAsk } from "../domain/workload.ts";
import { renderTable } from "./table.ts";

type Workload = Extract<InspectedObject, { what: "workload" }>;
type Node = Extract<InspectedObject, { what: "node" }>;
type Cluster = Extract<InspectedObject, { what: "cluster" }>;

/** Returns the ledger's reading of Kubernetes objects as text: a table for each kind, then remarks, then ignored objects. */
export function renderObjects({ objects, ignored }: ObjectInspection): string {
  const workloads = objects.filter((object): object is Workload => object.what === "workload");
  const nodes = objects.filter((object): object is Node => object.what === "node");
  const cluster = objects.filter((object): object is Cluster => object.what === "cluster");
  const sections = [`${objects.length} read, ${ignored.length} left out`];
  if (workloads.length > 0) sections.push(renderWorkloads(workloads));
  if (nodes.length > 0) sections.push(renderNodes(nodes));
  if (cluster.length > 0) {
    const rows = cluster.map(({ fact }) => [fact.kind, nameOf(fact), JSON.stringify(fact.body)]);
    sections.push(renderTable(["kind", "name", "contents"], rows));
  }
  const remarks = objects.flatMap((object) =>
    object.remarks.map(({ reason, text }) => [
      object.what === "node" ? object.fact.node : nameOf(object.fact),
      reason,
      text,
    ]),
  );
  if (remarks.length > 0) sections.push(`remarks:\n${renderTable(["object", "reason", "what"], remarks)}`);
  if (ignored.length > 0) {
    sections.push(
      `left out:\n${renderTable(
        ["object", "why"],
        ignored.map(({ what, why }) => [what, why]),
      )}`,
    );
  }
  return sections.join("\n\n");
}

function renderWorkloads(workloads: readonly Workload[]): string {
  const rows = workloads.map(({ fact, regimes, typeBy, teamLabels }) => [
    nameOf(fact),
    fact.node === "" ? "-" : fact.node,
    regimes.join("+"),
    fact.asks.length === 0 ? "-" : fact.asks.map(askText).join(", "),
    fact.evidence.length === 0 ? "-" : fact.evidence.map(evidenceText).join(", "),
    `${fact.workload.kind} ${fact.workload.name}`,
    chainText(fact),
    typeBy === "" ? fact.type : `${fact.type} (${typeBy})`,
    fact.queue ?? "-",
    Object.entries(teamLabels)
      .map(([name, value]) => `${name}=${value}`)
      .join(", ") || "-",
  ]);
  const header = ["pod", "node", "regime", "asks", "evidence", "workload", "owners", "type", "queue", "team"];
  return renderTable(header, rows);
}

function renderNodes(nodes: readonly Node[]): string {
  const rows = nodes.flatMap(({ fact }) =>
    (fact.gpus.length === 0 ? [undefined] : fact.gpus).map((gpus) => [
      fact.node,
      gpus === undefined ? "0" : String(gpus.count),
      gpus?.countedBy === undefined ? "-" : COUNTED_BY[gpus.countedBy],
      gpus?.model ?? gpus?.vendor ?? "-",
      gpus?.memoryMiB === undefined ? "-" : String(gpus.memoryMiB),
      gpus === undefined ? "-" : sharingText(gpus),
      fact.instanceType ?? "-",
      [fact.region, fact.zone, fact.pool].filter((part) => part !== undefined).join("/") || "-",
      fact.capacityType ?? "-",
      fact.driverVersion ?? "-",
      fact.cordonedSince === undefined ? "-" : new Date(fact.cordonedSince).toISOString(),
    ]),
  );
  const header = [
    "node",
    "gpus",
    "counted by",
    "model",
    "MiB",
    "sharing",
    "instance type",
    "region/zone/pool",
    "paid",
    "driver",
    "cordoned",
  ];
  return renderTable(header, rows);
}

function askText(ask: GpuAsk): string {
  switch (ask.kind) {
    case "gpu":
      return `${ask.count} × ${ask.resource}`;
    case "mig":
      return `${ask.count} × MIG ${ask.profile}`;
    case "vgpu": {
      const memory =
        ask.memoryMiB === undefined ? `${ask.memoryPercent ?? 100} % of the memory` : `${ask.memoryMiB} MiB`;
      return `${ask.count} × ${memory}${ask.coresPercent === undefined ? "" : `, ${ask.coresPercent} % of the cores`}`;
    }
    case "fraction":
      return `${ask.count} × ${ask.ppm === undefined ? `${ask.memoryMiB ?? 0} MiB` : `${ask.ppm / 1_000_000} GPU`}`;
    case "claim":
      return ask.claim === "" ? "a claim that does not exist yet" : `claim ${ask.claim}`;
  }
}

function evidenceText(evidence: DeviceEvidence): string {
  switch (evidence.by) {
    case "annotation":
      return evidence.uuid;
    case "status":
      return `${evidence.units} × ${evidence.uuid ?? evidence.pciBusId ?? `GPU ${evidence.gpuIndex}`}`;
    case "group":
      return `group ${evidence.group}`;
    case "reservation":
      return `${evidence.uuid} for group ${evidence.group}`;
  }
}

function chainText({ owners, ownersTruncated }: Workload["fact"]): string {
  const chain = owners.map(({ kind, name }) => `${kind} ${name}`).join(" < ");
  return ownersTruncated ? `${chain} < ?` : chain === "" ? "-" : chain;
}

function sharingText(gpus: NodeGpus): string {
  const { mig, replicas, sharing } = gpus;
  const profiles = Object.entries(mig.profiles).map(([profile, count]) => `${count} × ${profile}`);
  if (profiles.length > 0) return `MIG ${mig.strategy}: ${profiles.join(", ")}`;
  if (gpus.partitions !== undefined) return `${gpus.partitions} partitions`;
  return sharing === "none" ? "none" : `${sharing}, ${replicas} replicas`;
}

function nameOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}
