import type { DeviceEvidence, GpuAsk } from "../../../../domain/workload.ts";
import type { PodObject } from "../pod-object.ts";
import { parseDevices, parseMebibytes, parsePpm } from "../quantity.ts";
import type { Remarks } from "../remark.ts";
import { text, texts } from "../wire.ts";

/** The namespaces in which KAI and Run:ai keep the pods that hold a GPU for a group of fractions. */
export const RESERVATION_NAMESPACES: readonly string[] = ["kai-resource-reservation", "runai-reservation"];

const RESERVED_GPU = "run.ai/reserve_for_gpu_index";
/** The label of one group. With a slash and the group after it: one of several GPUs. */
const GROUP = "runai-gpu-group";

/**
 * Reads the evidence of a reservation pod: its group has this GPU. Undefined if the pod is not one. A reservation pod is in a reservation
 * namespace and has a group or a GPU.
 */
export function readReservation(
  pod: PodObject,
  namespaces: readonly string[],
  remarks: Remarks,
): readonly DeviceEvidence[] | undefined {
  const groups = groupsOf(pod);
  const uuid = texts(pod.metadata?.annotations)[RESERVED_GPU];
  const isReservation = namespaces.includes(pod.metadata?.namespace ?? "") && (groups.length > 0 || uuid !== undefined);
  if (!isReservation) return undefined;
  if (uuid === undefined) return [];
  if (!/^(GPU|MIG)-[\w-]+$/.test(uuid)) {
    remarks.push({ reason: "annotation", text: `${RESERVED_GPU}: "${uuid.slice(0, 60)}" is not the UUID of a GPU.` });
    return [];
  }
  if (groups.length === 0) {
    remarks.push({
      reason: "annotation",
      text: `It reserves ${uuid}, but for no group: the label ${GROUP} is missing.`,
    });
  }
  return groups.map((group) => ({ by: "reservation", group, uuid }));
}

/** Returns the groups whose GPUs the pod shares, from its labels. */
export function groupsOf(pod: PodObject): readonly string[] {
  const groups = new Set<string>();
  for (const [label, value] of Object.entries(texts(pod.metadata?.labels))) {
    if (value !== "" && (label === GROUP || label.startsWith(`${GROUP}/`))) groups.add(value);
  }
  return [...groups].sort();
}

/** KAI's annotations for the GPU memory of one container since 0.18. Without a request, the limit is the request. */
export const OF_CONTAINER = /^nvidia\.com\/container\.(.+)\.gpu-memory\.(request|limit)$/;

/**
 * Returns the GPU memory that the annotations of a pod's containers request together, in the form of `gpu-memory`; undefined without any
 * (https://github.com/kai-scheduler/KAI-Scheduler/blob/main/docs/gpu-sharing/README.md).
 */
function memoryOfContainers(annotations: Readonly<Record<string, string>>, remarks: Remarks): string | undefined {
  const amounts = new Map<string, number>();
  const found = Object.entries(annotations).flatMap(([name, value]) => {
    const [, container, kind] = OF_CONTAINER.exec(name) ?? [];
    return container === undefined ? [] : [{ name, value, container, isRequest: kind === "request" }];
  });
  for (const { name, value, container } of found.toSorted((a, b) => Number(a.isRequest) - Number(b.isRequest))) {
    const parsed = parseMebibytes(value);
    if ("value" in parsed) amounts.set(container, parsed.value);
    else remarks.push({ reason: "annotation", text: `${name}: ${parsed.refused}; it is ignored.` });
  }
  return amounts.size === 0 ? undefined : String([...amounts.values()].reduce((sum, amount) => sum + amount, 0));
}

/**
 * Reads the fraction that a pod requests by `gpu-fraction`, by `gpu-memory` (MiB) or by the GPU memory of its containers, of each of
 * `gpu-fraction-num-devices` GPUs. Undefined without the annotations, if they are invalid, or if the default scheduler, which does not support
 * them, schedules the pod.
 */
export function readFraction(pod: PodObject, remarks: Remarks): GpuAsk | undefined {
  const annotations = texts(pod.metadata?.annotations);
  const fraction = annotations["gpu-fraction"];
  const memory = annotations["gpu-memory"] ?? memoryOfContainers(annotations, remarks);
  if (fraction === undefined && memory === undefined) return undefined;
  const name = fraction === undefined ? "gpu-memory" : "gpu-fraction";
  const received = text(annotations["received-resource-type"]);
  if (pod.spec?.schedulerName === "default-scheduler" && received === undefined && groupsOf(pod).length === 0) {
    remarks.push({ reason: "contradiction", text: `${name} is ignored, because the pod uses the default scheduler.` });
    return undefined;
  }
  if (fraction !== undefined && memory !== undefined) {
    remarks.push({
      reason: "contradiction",
      text: "The pod has both gpu-fraction and gpu-memory; the fraction is used.",
    });
  }
  const parsed = fraction === undefined ? parseMebibytes(memory) : parsePpm(fraction);
  if ("refused" in parsed || parsed.value === 0) {
    const why = "refused" in parsed ? parsed.refused : "0 is not a part of one GPU";
    remarks.push({ reason: "annotation", text: `${name}: ${why}; it is ignored.` });
    return undefined;
  }
  const count = readDevices(annotations["gpu-fraction-num-devices"], remarks);
  return fraction === undefined
    ? { kind: "fraction", count, memoryMiB: parsed.value }
    : { kind: "fraction", count, ppm: parsed.value };
}

function readDevices(written: string | undefined, remarks: Remarks): number {
  if (written === undefined) return 1;
  const parsed = parseDevices(written);
  if ("value" in parsed && parsed.value > 0) return parsed.value;
  const why = "refused" in parsed ? parsed.refused : "0 devices hold nothing";
  remarks.push({ reason: "annotation", text: `gpu-fraction-num-devices: ${why}; it counts as 1.` });
  return 1;
}
