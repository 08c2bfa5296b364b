import { canonicalModel } from "../domain/gpu-model/names.ts";
import type { PriceEntry } from "../domain/price/book.ts";
import { canPrice, type PriceFacts } from "../domain/price/match.ts";
import { migProductOf, type FoundProduct } from "../domain/share/mig-product.ts";
import { migShapeOf } from "../domain/share/mig-shape.ts";
import type { Scenario } from "./files.ts";

/** Records a mistake: its path, and the allowed values. */
export type Complain = (path: readonly PropertyKey[], allowed: string) => void;

/** The machines and pods of a scenario, at its top or in an event. */
type Fleet = Pick<Scenario, "nodes" | "pods">;
type Node = Scenario["nodes"][number];
type Pod = Scenario["pods"][number];
type Device = NonNullable<Pod["devices"]>[number];
interface Span {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
}

/** Records contradictions of a scenario's nodes, pods and claims: unknown names, missing devices, times out of order. */
export function checkFleet(scenario: Scenario, complain: Complain): void {
  checkNodes(scenario.nodes, [], complain);
  checkPods(scenario, scenario.nodes, [], complain);
  const { claims } = scenario;
  let { nodes, pods } = scenario;
  scenario.events.forEach((event, index) => {
    if (!("arrives" in event)) return;
    const path = ["events", index, "arrives"];
    const arrived = event.arrives.nodes ?? [];
    nodes = [...nodes.filter(({ name }) => arrived.every((other) => other.name !== name)), ...arrived];
    pods = [...pods, ...(event.arrives.pods ?? [])];
    checkNodes(arrived, path, complain);
    checkPods({ pods: event.arrives.pods ?? [], claims }, nodes, path, complain);
  });
  checkClaims({ claims, nodes, pods }, complain);
}

/** Records price entries with fewer GPUs than a node that they match. */
export function checkDelivered(nodes: Fleet["nodes"], prices: readonly PriceEntry[], complain: Complain): void {
  prices.forEach(({ delivered = Infinity, ...entry }, index) => {
    const short = nodes.find((node) => node.gpus > delivered && canPrice(entry, priceFactsOf(node)));
    if (short !== undefined)
      complain(["prices", index, "delivered"], `at least the GPUs of the node ${short.name}, ${short.gpus}`);
  });
}

function priceFactsOf({
  name,
  cluster,
  region,
  zone,
  instanceType,
  pool,
  capacityType,
  model,
  labels,
}: Node): PriceFacts {
  const known = { region, zone, instanceType, pool, capacityType };
  const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
  return { ...given, cluster, node: name, model: canonicalModel(model), labels };
}

function checkNodes(nodes: Fleet["nodes"], path: readonly PropertyKey[], complain: Complain): void {
  const names = new Set<string>();
  nodes.forEach((node, index) => {
    const own = [...path, "nodes", index];
    if (names.has(node.name)) complain([...own, "name"], "a name that no other node has");
    names.add(node.name);
    checkSpan(node, own, complain);
    if (node.delivered !== undefined && node.delivered < node.gpus)
      complain([...own, "delivered"], `at least the GPUs of the node, ${node.gpus}`);
    const isGpu = (gpu: number): boolean => gpu < node.gpus;
    for (const key of ["unavailable", "telemetryGaps"] as const) {
      node[key].forEach((each, spanIndex) => {
        checkSpan(each, [...own, key, spanIndex], complain);
        each.gpus?.forEach((gpu, position) => {
          if (!isGpu(gpu)) complain([...own, key, spanIndex, "gpus", position], gpuOf(node));
        });
      });
    }
    for (const gpu of Object.keys(node.partitions))
      if (!isGpu(Number(gpu))) complain([...own, "partitions", gpu], gpuOf(node));
    checkMig(node, [...own, "mig"], complain);
  });
}

function checkMig(node: Node, path: readonly PropertyKey[], complain: Complain): void {
  if (node.mig === undefined) return;
  const found = migProductOf(node.model);
  if (!Array.isArray(node.mig)) return checkLayout(node, found, node.mig as Layout, path, complain);
  node.mig.forEach(({ from, layout }, index) => {
    const before = (node.mig as typeof node.mig & readonly { readonly from: number }[])[index - 1];
    if (before !== undefined && from <= before.from) complain([...path, index, "from"], "a time after the one before");
    checkLayout(node, found, layout, [...path, index, "layout"], complain);
  });
}

type Layout = Readonly<Record<string, readonly string[]>>;

/** Checks that a layout has profiles of the node's model, and no more than fit on a GPU. */
function checkLayout(
  node: Node,
  found: FoundProduct,
  layout: Layout,
  path: readonly PropertyKey[],
  complain: Complain,
): void {
  const { product } = found;
  for (const [gpu, profiles] of Object.entries(layout)) {
    if (Number(gpu) >= node.gpus) complain([...path, gpu], gpuOf(node));
    const shapes = profiles.map((profile) => migShapeOf(profile, found));
    const strange = shapes.findIndex(
      ({ assumption }) => assumption === "mig-profile-unreadable" || assumption === "mig-profile",
    );
    if (strange >= 0) {
      const known = product.profiles.map(({ name }) => name).join(", ");
      complain([...path, gpu, strange], found.isAssumed ? "a MIG profile, such as 1g.5gb" : `one of: ${known}`);
      continue;
    }
    const compute = shapes.reduce((sum, { computeSlices }) => sum + computeSlices, 0);
    const memory = shapes.reduce((sum, { memorySlices }) => sum + memorySlices, 0);
    if (compute > product.computeSlices || memory > product.memorySlices)
      complain(
        [...path, gpu],
        `instances that fit on one GPU: ${product.computeSlices} compute and ${product.memorySlices} memory slices, not ${compute} and ${memory}`,
      );
  }
}

function checkPods(
  { pods, claims }: Pick<Scenario, "pods" | "claims">,
  nodes: Fleet["nodes"],
  path: readonly PropertyKey[],
  complain: Complain,
): void {
  const names = new Set<string>();
  const gangs = new Map<string, number>();
  pods.forEach((pod, index) => {
    const own = [...path, "pods", index];
    const key = `${pod.namespace}/${pod.name}/${pod.scheduled}`;
    if (names.has(key)) complain([...own, "name"], "a name that no other pod has at this time");
    names.add(key);
    const host = nodes.find(({ name }) => name === pod.node);
    if (pod.node !== undefined && host === undefined) complain([...own, "node"], "the name of a node");
    checkDevices(pod.devices ?? [], host, [...own, "devices"], complain);
    if ("dra" in pod.holds && !(pod.holds.dra.claim in claims))
      complain([...own, "holds", "dra", "claim"], "the name of a claim");
    if (pod.gang !== undefined) {
      const { group, size } = pod.gang;
      if (size !== (gangs.get(group) ?? size))
        complain([...own, "gang", "size"], `the size of the other pods of ${group}, ${gangs.get(group)}`);
      gangs.set(group, gangs.get(group) ?? size);
    }
    checkLife(pod, own, complain);
    if (Array.isArray(pod.activity))
      pod.activity.forEach((each, spanIndex) => checkSpan(each, [...own, "activity", spanIndex], complain));
  });
}

/** Checks that the given times of a pod are in the order of events. */
function checkLife(pod: Pod, path: readonly PropertyKey[], complain: Complain): void {
  let last: { readonly key: string; readonly at: number } | undefined;
  for (const key of ["created", "scheduled", "started", "finished"] as const) {
    const at = pod[key] ?? undefined;
    if (at === undefined) continue;
    if (last !== undefined && at < last.at) complain([...path, key], `a time that is not before ${last.key}`);
    last = { key, at };
  }
}

function checkClaims({ claims, nodes, pods }: Pick<Scenario, "claims" | "nodes" | "pods">, complain: Complain): void {
  const names = new Set(pods.map(({ name }) => name));
  for (const [claim, { node, devices, reservedFor }] of Object.entries(claims)) {
    const host = nodes.find(({ name }) => name === node);
    if (host === undefined) complain(["claims", claim, "node"], "the name of a node");
    checkDevices(devices, host, ["claims", claim, "devices"], complain);
    reservedFor.forEach((pod, index) => {
      if (!names.has(pod)) complain(["claims", claim, "reservedFor", index], "the name of a pod");
    });
  }
}

/** Checks that devices are on their node, each once, and that an instance is in some layout of its GPU. */
function checkDevices(
  devices: readonly Device[],
  host: Node | undefined,
  path: readonly PropertyKey[],
  complain: Complain,
): void {
  const seen = new Set<string>();
  devices.forEach((device, index) => {
    const { gpu, instance } = typeof device === "number" ? { gpu: device, instance: undefined } : device;
    const key = `${gpu}/${instance ?? ""}`;
    if (seen.has(key)) complain([...path, index], "a device that is not already in the list");
    seen.add(key);
    if (host === undefined) return;
    if (gpu >= host.gpus) complain([...path, index], gpuOf(host));
    else if (instance !== undefined && instance >= mostInstances(host, gpu))
      complain([...path, index], `an instance of GPU ${gpu} of ${host.name}, which has ${mostInstances(host, gpu)}`);
  });
}

/** Returns the maximum of instances or partitions of a GPU over all layouts of its node. */
function mostInstances({ mig, partitions }: Node, gpu: number): number {
  const layouts = mig === undefined ? [] : Array.isArray(mig) ? mig.map(({ layout }) => layout) : [mig as Layout];
  return Math.max(partitions[String(gpu)] ?? 0, ...layouts.map((layout) => layout[String(gpu)]?.length ?? 0));
}

function checkSpan({ from, until }: Span, path: readonly PropertyKey[], complain: Complain): void {
  if (from !== undefined && until !== undefined && until <= from) complain([...path, "until"], "a time after from");
}

function gpuOf({ name, gpus }: Node): string {
  return `a GPU of ${name}, which has ${gpus}`;
}
