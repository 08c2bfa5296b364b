import { gpuMemoryOf } from "../../domain/share/gpu-memory.ts";
import type { DeviceEvidence, GpuAsk } from "../../domain/workload.ts";
import { gpuUuid, instanceUuid } from "./identity.ts";
import { layoutAt, migAt, vendorOf } from "./machine.ts";
import { migResource } from "./node-facts.ts";
import type { ScenarioNode, ScenarioPod } from "./tenure.ts";

/** A device in a scenario's form: a GPU, or an instance or partition of one. */
export interface NamedDevice {
  readonly gpu: number;
  readonly instance?: string;
}

/** Returns the written devices of a pod; none if they are unknown. Devices of a claim are in the claim. */
export function devicesOf({ devices = [] }: Pick<ScenarioPod, "devices">): readonly NamedDevice[] {
  return devices.map((device) =>
    typeof device === "number" ? { gpu: device } : { gpu: device.gpu, instance: String(device.instance) },
  );
}

/**
 * Returns the claim of a pod whose devices DRA allocated: the named claim, or a claim of the pod's own if it requests devices as a resource
 * that DRA serves. Undefined for a pod without DRA.
 */
export function claimNameOf({ name, holds, devices, evidence }: ScenarioPod): string | undefined {
  if ("dra" in holds) return holds.dra.claim;
  return evidence === "dra" && devices !== undefined ? `${name}-devices` : undefined;
}

/** Returns a pod's requests, as a watcher reads them. */
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

/** Returns the evidence of a pod's devices in its own annotations and labels, after a scheduler has written it. */
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

/** Returns the name of the group of pods that share one of a node's GPUs. */
export function groupName(group: string, gpu: number): string {
  return `${group}-gpu-${gpu}`;
}

/**
 * Returns the annotation of a share in the form of HAMi or Volcano, or of an instance in the form of Run:ai, which has neither memory nor
 * cores.
 */
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
