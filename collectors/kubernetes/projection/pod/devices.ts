import type { DeviceEvidence } from "../../../../domain/workload.ts";
import { gpuResource, type ResourceNames } from "../gpu-resource.ts";
import type { PodObject } from "../pod-object.ts";
import type { Remarks } from "../remark.ts";
import { given, objects, text } from "../wire.ts";

type Status = Extract<DeviceEvidence, { by: "status" }>;
type Named = Omit<Status, "by" | "units" | "isUnhealthy" | "unhealthy">;

/**
 * The forms of device plugins' ids: NVIDIA's UUIDs, with `::n` for a replica
 * (https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/rm/devices.go); GKE's, with index, instance and client; AMD's PCI
 * addresses; Intel's cards.
 */
const FORMS: readonly (readonly [form: RegExp, read: (parts: RegExpExecArray) => Named])[] = [
  [/^((?:GPU|MIG)-[\w-]+)(?:::\d+)?$/, ([, uuid]) => ({ uuid: uuid! })],
  [
    /^nvidia(\d{1,6})(?:\/gi(\d{1,6}))?(?:\/vgpu\d+)?$/,
    ([, gpuIndex, instance]) => ({
      gpuIndex: Number(gpuIndex),
      ...(instance === undefined ? {} : { instance: Number(instance) }),
    }),
  ],
  [/^([\da-f]{4,8}:[\da-f]{2}:[\da-f]{2}\.\d)$/i, ([, pciBusId]) => ({ pciBusId: pciBusId! })],
  [/^card(\d{1,6})-\d+$/, ([, gpuIndex]) => ({ gpuIndex: Number(gpuIndex) })],
];

/**
 * Reads the devices that the kubelet has given a pod's containers, from `status.containerStatuses[].allocatedResourcesStatus` (KEP-4680),
 * each once with the number of its units. Resources in `taken` are left out, because HAMi gives other devices than the kubelet reports. DRA
 * claims are left out too, because their own status has the devices.
 */
export function readDevices(
  { status }: PodObject,
  { names, taken }: { readonly names?: ResourceNames; readonly taken: ReadonlySet<string> },
  remarks: Remarks,
): readonly Status[] {
  const units = new Map<string, boolean>();
  for (const container of [...objects(status?.initContainerStatuses), ...objects(status?.containerStatuses)]) {
    for (const { name: written, resources } of objects(container.allocatedResourcesStatus)) {
      const name = text(written);
      const meaning = name === undefined || taken.has(name) ? undefined : gpuResource(name, names);
      if (meaning === undefined || meaning.kind === "measure") continue;
      for (const { resourceID, health } of objects(resources)) {
        const id = text(resourceID);
        if (id !== undefined) units.set(id, health === "Unhealthy" || units.get(id) === true);
      }
    }
  }
  const devices = new Map<string, Status>();
  for (const [id, isUnhealthy] of units) {
    const named = read(id);
    if (named === undefined) {
      remarks.push({ reason: "left-out", text: `The id "${id.slice(0, 60)}" of its device has no known form.` });
      continue;
    }
    const key = JSON.stringify(named);
    const before = devices.get(key);
    const sick = isUnhealthy || before?.isUnhealthy === true ? (true as const) : undefined;
    devices.set(key, { by: "status", ...named, units: (before?.units ?? 0) + 1, ...given({ isUnhealthy: sick }) });
  }
  return [...devices.values()];
}

function read(id: string): Named | undefined {
  for (const [form, named] of FORMS) {
    const parts = form.exec(id);
    if (parts !== null) return named(parts);
  }
  return undefined;
}
