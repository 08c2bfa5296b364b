import type { DeviceEvidence, GpuAsk } from "../../../../domain/workload.ts";
import { gpuResource } from "../gpu-resource.ts";
import { parseDevices } from "../quantity.ts";
import type { Remarks } from "../remark.ts";
import { given, text, wholeNumber } from "../wire.ts";

/** The requests of a pod with Run:ai's dynamic MIG, and its allocated instance. */
export interface RunaiMigReading {
  readonly asks: readonly GpuAsk[];
  readonly evidence: readonly DeviceEvidence[];
}

const DEVICE = "runai-mig-device";

/**
 * Reads Run:ai's dynamic MIG. It requests by an annotation `nvidia.com/mig-1g.5gb: "1"` without a limit. The allocation is in JSON: the
 * instance's UUID as `deviceUUID`, before 2.9 as `instanceid`, and the GPU's index.
 */
export function readRunaiMig(annotations: Readonly<Record<string, string>>, remarks: Remarks): RunaiMigReading {
  const device = annotations[DEVICE];
  if (device === undefined && annotations["received-resource-type"] !== "MigInstance")
    return { asks: [], evidence: [] };
  const asks: GpuAsk[] = [];
  for (const [name, written] of Object.entries(annotations)) {
    const resource = gpuResource(name);
    if (resource?.kind !== "mig") continue;
    const count = parseDevices(written);
    if ("refused" in count) remarks.push({ reason: "annotation", text: `${name}: ${count.refused}; it is ignored.` });
    else if (count.value > 0) asks.push({ kind: "mig", resource: name, profile: resource.profile, count: count.value });
  }
  return { asks, evidence: device === undefined ? [] : readDevice(device, remarks) };
}

function readDevice(written: string, remarks: Remarks): readonly DeviceEvidence[] {
  let fields: Readonly<Record<string, unknown>> = {};
  try {
    const value: unknown = JSON.parse(written);
    if (typeof value === "object" && value !== null) fields = value as Readonly<Record<string, unknown>>;
  } catch {
    remarks.push({
      reason: "annotation",
      text: `${DEVICE} is not JSON, so the instance of the pod is not known from it.`,
    });
    return [];
  }
  const uuid = text(fields["deviceUUID"]) ?? text(fields["instanceid"]);
  if (uuid === undefined || !/^MIG-[\w-]+$/.test(uuid)) {
    remarks.push({
      reason: "annotation",
      text: `${DEVICE} has no MIG instance, so the instance of the pod is not known from it.`,
    });
    return [];
  }
  const gpuIndex = wholeNumber(Number(fields["gpuindex"] ?? Number.NaN));
  const instance = wholeNumber(fields["gpuinstanceid"]);
  return [{ by: "annotation", uuid, container: 0, memoryMiB: 0, coresPercent: 0, ...given({ gpuIndex, instance }) }];
}
