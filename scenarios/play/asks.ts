import { gpuMemoryOf } from "../../domain/share/gpu-memory.ts";
import type { DeviceEvidence, GpuAsk } from "../../domain/workload.ts";
import { gpuUuid, instanceUuid } from "./identity.ts";
import { layoutAt, migAt, vendorOf } from "./machine.ts";
import { migResource } from "./node-facts.ts";
import type { ScenarioNode, ScenarioPod } from "./tenure.ts";

/** A device as a scenario names it: a GPU, or an instance or partition of one. */
export interface NamedDevice {
  readonly gpu: number;
  readonly instance?: string;
}

/** The devices that a pod is written to have; none where nothing tells which. Those of a claim stand in the claim. */
export function devicesOf({ devices = [] }: Pick<ScenarioPod, "devices">): readonly NamedDevice[] {
  return devices.map((device) =>
    typeof device === "number" ? { gpu: device } : { gpu: device.gpu, instance: String(device.instance) },
  );
}

/**
 * The claim of a pod whose devices DRA allocated: the one that it names, or one of its own where it asks for devices as a resource
 * that DRA serves. Undefined for a pod that DRA has nothing to do with.
 */
export function claimNameOf({ name, holds, devices, evidence }: ScenarioPod): string | undefined {
  if ("dra" in holds) return holds.dra.claim;
  return evidence === "dra" && devices !== undefined ? `${name}-devices` : undefined;
}

/** What a pod asks for, as a watcher reads it from the pod. */
export function asksOf(pod: ScenarioPod, node: ScenarioNode | undefined): readonly GpuAsk[] {
  const { holds, devices } = pod;
  const claim = claimNameOf(pod);
  if (claim !== undefined) return [{ kind: "claim", claim }];
  const resource = `${node === undefined ? "nvidia" : vendorOf(node)}.com/gpu`;
  if ("gpus" in holds) return [{ kind: "gpu", resource, count: holds.gpus }];
  if ("replicas" in holds) return [{ kind: "gpu", resource, count: holds.replicas }];
  if ("mig" in holds)
    return [{ kind: "mig", resource: migResource(holds.mig), profile: holds.mig, count: holds.count }];
  if ("fraction" in holds)
    return [{ kind: "fraction", count: devices?.length ?? 1, ppm: Math.round(holds.fraction * 1e6) }];
  if (!("hami" in holds)) return [];
  const { gpus: count, memoryMiB, cores } = holds.hami;
  const memory = memoryMiB === undefined ? { memoryPercent: 100 } : { memoryMiB };
  return [
    { kind: "vgpu", scheduler: "hami", count, ...memory, ...(cores === undefined ? {} : { coresPercent: cores }) },
  ];
}

/** What proves a pod's devices in its own annotations and labels, once a scheduler has written it. */
export function evidenceOf(pod: ScenarioPod, node: ScenarioNode, at: number): readonly DeviceEvidence[] {
  if (pod.group !== undefined) {
    const devices = devicesOf(pod);
    return devices.length === 0
      ? [{ by: "group", group: pod.group }]
      : devices.map(({ gpu }) => ({ by: "group", group: groupName(pod.group!, gpu) }));
  }
  if (pod.evidence !== "annotation") return [];
  return devicesOf(pod).map((device) => annotationOf(pod, node, device, at));
}

/** The name of the group of pods that share one of a node's GPUs. */
export function groupName(group: string, gpu: number): string {
  return `${group}-gpu-${gpu}`;
}

/** As HAMi and Volcano write a share, and Run:ai an instance: of that neither memory nor cores. */
function annotationOf(
  { holds }: ScenarioPod,
  node: ScenarioNode,
  { gpu, instance }: NamedDevice,
  at: number,
): DeviceEvidence {
  if (instance !== undefined) {
    const layout = layoutAt(node, gpu, at);
    const profile = layout.kind === "mig" ? (layout.instances.find(({ id }) => id === instance)?.profile ?? "") : "";
    const uuid = instanceUuid(node, { gpu, instance, profile, sinceMillis: migAt(node, at)?.from ?? 0 });
    const none = { container: 0, memoryMiB: 0, coresPercent: 0 };
    return { by: "annotation", uuid, ...none, gpuIndex: gpu, instance: Number(instance) };
  }
  const { memoryMiB, cores } = "hami" in holds ? holds.hami : { memoryMiB: undefined, cores: undefined };
  return {
    by: "annotation",
    uuid: gpuUuid(node, gpu),
    container: 0,
    memoryMiB: memoryMiB ?? gpuMemoryOf({ model: node.model })?.mib ?? 0,
    coresPercent: cores ?? 0,
  };
}
