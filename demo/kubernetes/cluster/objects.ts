import type { Fleet } from "../../fleet/fleet.ts";
import type { KubernetesObject } from "../server/object.ts";
import { gatewayPod, pagesOfEngines, type EngineAddress } from "./engine-pods.ts";
import { pulledEvent } from "./events.ts";
import { exporterDaemonSets, exporterPod, type ExporterAddress } from "./exporters.ts";
import { amountsOf, type Amounts } from "./gpu-resources.ts";
import { livesAt, type PodLife } from "./lives.ts";
import { namespaceObjects, priorityObjects, quotaObjects, teamChangeOf, type TeamChange } from "./namespaces.ts";
import { nodeObject } from "./nodes.ts";
import { ownerObjects } from "./owner-objects.ts";
import { podObject } from "./pods.ts";
import { budgetObjects, limitRangeObjects, plainPodObjects } from "./practices.ts";
import { queueObjects } from "./queues.ts";
import { waitingAt, type Waiting } from "./waiting.ts";
import { waitingGangObjects, waitingPodObject } from "./waiting-objects.ts";

/** The options that are not part of the fleet. */
export interface ClusterOptions {
  /** The addresses of the exporters. Without them, exporters have addresses within the cluster. */
  readonly exporters?: readonly ExporterAddress[];
  /** The address of the inference engines and their gateway. Without it, the cluster has no gateway, and pods do not name engines. */
  readonly engines?: EngineAddress;
  /** The namespace that changes its team, and the time. By default one does each month. */
  readonly teamChange?: TeamChange;
}

/**
 * Returns every object of the fleet's cluster at a time, as a function of its arguments. Objects come after those on which they depend, in
 * the order of creation. They have no resourceVersion; the server adds one.
 */
export function objectsAt(fleet: Fleet, timeMillis: number, options: ClusterOptions = {}): KubernetesObject[] {
  const { engines } = options;
  const lives = livesAt(fleet, timeMillis);
  const created = lives.filter(({ createdMillis }) => createdMillis <= timeMillis);
  const waiting = waitingAt(fleet, timeMillis);
  const exporters = new Map((options.exporters ?? []).map((exporter) => [exporter.node, exporter]));
  const count = fleet.nodes.length;
  return [
    ...namespaceObjects(fleet, timeMillis, options.teamChange ?? teamChangeOf(timeMillis)),
    ...priorityObjects(fleet),
    ...limitRangeObjects(fleet),
    ...budgetObjects(fleet),
    ...quotaObjects(fleet, usedBy(created, waiting, timeMillis)),
    ...fleet.nodes.flatMap((node) => nodeObject(node, timeMillis) ?? []),
    ...exporterDaemonSets(fleet.nodes),
    ...queueObjects(fleet, lives, waiting.gangs, timeMillis),
    ...ownerObjects(fleet, lives, timeMillis),
    ...fleet.nodes.flatMap((node) => exporterPod(node, timeMillis, exporters.get(node.name)) ?? []),
    ...fleet.nodes.flatMap((node) => plainPodObjects(node, timeMillis)),
    ...created.map((life) => podObject(life, timeMillis, count, engines && pagesOfEngines(life, engines))),
    ...(engines === undefined ? [] : [gatewayPod(fleet, engines)]),
    ...lives.flatMap((life) => pulledEvent(life, timeMillis) ?? []),
    ...waiting.gangs.flatMap((gang) => waitingGangObjects(gang, count)),
    ...waiting.pods.map((pod) => waitingPodObject(pod, count)),
  ];
}

/** Returns the requests of unfinished pods by namespace. Quotas count waiting pods too. */
function usedBy(lives: readonly PodLife[], { gangs, pods }: Waiting, timeMillis: number): Map<string, Amounts[]> {
  const used = new Map<string, Amounts[]>();
  const add = (namespace: string, amounts: Amounts): void => {
    const known = used.get(namespace);
    if (known === undefined) used.set(namespace, [amounts]);
    else known.push(amounts);
  };
  for (const { pod, slots, endMillis } of lives) if (timeMillis < endMillis) add(pod.namespace, amountsOf(slots));
  for (const { namespace, members } of gangs)
    for (const { gpus } of members) add(namespace, { "nvidia.com/gpu": gpus });
  for (const { namespace, limits } of pods) {
    add(namespace, Object.fromEntries(Object.entries(limits).map(([name, text]) => [name, Number(text)])));
  }
  return used;
}
