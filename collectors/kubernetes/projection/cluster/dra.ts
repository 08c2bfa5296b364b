import type { ClusterFactBodies, DeviceTaint, SliceDevice } from "../../../../domain/cluster-fact.ts";
import type {
  DeviceAttributes,
  DeviceCapacity,
  DeviceTaintObject,
  DeviceTaintRuleObject,
  ResourceClaimObject,
  ResourceSliceObject,
  SliceDeviceObject,
} from "../dra-object.ts";
import { vendorOfModel } from "../../../../domain/gpu-model/names.ts";
import { parseAmount } from "../quantity.ts";
import type { Remarks } from "../remark.ts";
import { millisOf } from "../time.ts";
import { given, objects, text } from "../wire.ts";

/**
 * Reads a ResourceClaim: its devices, and the pods that it is reserved for. A device with admin access is left out, because its claim only
 * monitors the device while others hold it.
 */
export function readClaim(object: ResourceClaimObject, remarks: Remarks): ClusterFactBodies["ResourceClaim"] {
  const { allocation, reservedFor } = object.status ?? {};
  const results = objects(allocation?.devices?.results);
  const held = results.filter(({ adminAccess }) => adminAccess !== true);
  if (held.length < results.length) {
    remarks.push({
      reason: "left-out",
      text: "A device with admin access is only monitored by this claim. Other claims hold it.",
    });
  }
  return {
    devices: held.map(({ driver, pool, device, shareID, consumedCapacity }) => {
      const consumed = amountsOf(consumedCapacity ?? {}, text(driver) ?? "");
      return {
        driver: text(driver) ?? "",
        pool: text(pool) ?? "",
        device: text(device) ?? "",
        ...given({ share: text(shareID), consumed: Object.keys(consumed).length > 0 ? consumed : undefined }),
      };
    }),
    reservedFor: objects(reservedFor).flatMap(({ resource, uid }) => (resource === "pods" ? (text(uid) ?? []) : [])),
    ...given({
      isMonitor: isMonitor(object) ? (true as const) : undefined,
      allocated: millisOf(allocation?.allocationTimestamp),
    }),
  };
}

/**
 * Returns whether a claim is reserved for a gang, whose pods are then not listed (KEP-5729, Kubernetes 1.37): each has the claim's name in
 * its status.
 */
export function isReservedForGang({ status }: ResourceClaimObject): boolean {
  return objects(status?.reservedFor).some(({ resource }) => resource === "podgroups");
}

/** Returns whether all devices of a claim, or before its allocation all of its requests, are with admin access. */
function isMonitor({ spec, status }: ResourceClaimObject): boolean {
  const results = objects(status?.allocation?.devices?.results);
  // The older API versions have the field in the request itself.
  const asked = results.length > 0 ? results : objects(spec?.devices?.requests).map((own) => own.exactly ?? own);
  return asked.length > 0 && asked.every(({ adminAccess }) => adminAccess === true);
}

/** Reads the GPUs and MIG devices of a ResourceSlice; undefined if it has none, like slices of network drivers. */
export function readSlice(object: ResourceSliceObject): ClusterFactBodies["ResourceSlice"] | undefined {
  const { spec } = object;
  const driver = text(spec?.driver) ?? "";
  const devices = objects(spec?.devices).flatMap((device) => readDevice(device, driver) ?? []);
  if (devices.length === 0 && !GPU_DRIVER.test(driver)) return undefined;
  return { driver, pool: text(spec?.pool?.name) ?? "", node: text(spec?.nodeName) ?? "", devices };
}

function readDevice({ name, basic, ...own }: SliceDeviceObject, driver: string): SliceDevice | undefined {
  const attributes: DeviceAttributes = own.attributes ?? basic?.attributes ?? {};
  const capacity = amountsOf(own.capacity ?? basic?.capacity ?? {}, driver);
  const memory = capacity["memory"] ?? 0;
  const value = (...names: readonly string[]): string | undefined => {
    for (const key of names) {
      const found = text((attributes[key] ?? attributes[`${driver}/${key}`])?.string);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const type = value("type");
  const taints = objects(own.taints).flatMap((taint) => readTaint(taint) ?? []);
  const uuid = value("uuid", "uid");
  // Intel's driver has no type, and before a GPU is known no UUID (https://github.com/intel/intel-resource-drivers-for-kubernetes).
  const isGpu = type === undefined ? GPU_DRIVER.test(driver) : /gpu|mig/i.test(type);
  if (uuid === undefined && !isGpu) return undefined;
  const model = value("productName", "model");
  return {
    name: text(name) ?? "",
    ...given({
      uuid,
      pciBusId: value("resource.kubernetes.io/pciBusID", "pciBusID", "pciAddr", "pciAddress"),
      model: model === "Unknown" ? undefined : model,
      vendor: vendorOfModel(model ?? "") === undefined ? vendorOfDriver(driver) : undefined,
      parentUuid: value("parentUUID"),
      profile: value("profile"),
      memoryMiB: memory > 0 ? Math.round(memory / BYTES_IN_MIB) : undefined,
      capacity: own.allowMultipleAllocations === true ? capacity : undefined,
      isPartition: type === AMD_PARTITION && own.allowMultipleAllocations !== true ? (true as const) : undefined,
      taints: taints.length > 0 ? taints : undefined,
    }),
  };
}

const GPU_DRIVER = /(^|\.)gpu\./;

/** Returns the vendor of a driver, unless it is NVIDIA, which is every vendor that nothing shows. */
function vendorOfDriver(driver: string): "amd" | "intel" | undefined {
  const [, vendor] = /(?:^|\.)(amd|intel)\./.exec(driver) ?? [];
  return vendor as "amd" | "intel" | undefined;
}

/**
 * The type of a partition that AMD's driver finds on a GPU. Partitions that it would create on demand can have several claims
 * (https://github.com/ROCm/k8s-gpu-dra-driver/blob/main/docs/driver-attributes.md).
 */
const AMD_PARTITION = "amdgpu-partition";

/** Reads a rule that taints devices; undefined if it has no effect. */
export function readTaintRule({ spec }: DeviceTaintRuleObject): ClusterFactBodies["DeviceTaintRule"] | undefined {
  const { deviceSelector } = spec ?? {};
  const taint = readTaint(spec?.taint ?? {});
  if (deviceSelector === undefined || deviceSelector === null || taint === undefined) return undefined;
  const { driver, pool, device } = deviceSelector;
  return { ...given({ driver: text(driver), pool: text(pool), device: text(device) }), taint };
}

function readTaint({ key, effect, timeAdded }: DeviceTaintObject): DeviceTaint | undefined {
  if (effect !== "NoSchedule" && effect !== "NoExecute") return undefined;
  return { key: text(key) ?? "", ...given({ since: millisOf(timeAdded) }) };
}

const BYTES_IN_MIB = 2 ** 20;

/** Returns quantities above 0 by dimension, without the driver's domain. Invalid quantities are left out. */
function amountsOf(quantities: DeviceCapacity, driver: string): Readonly<Record<string, number>> {
  const amounts: Record<string, number> = {};
  for (const [name, quantity] of Object.entries(quantities)) {
    const parsed = parseAmount(typeof quantity === "object" ? quantity?.value : quantity);
    const dimension = name.startsWith(`${driver}/`) ? name.slice(driver.length + 1) : name;
    if ("value" in parsed && parsed.value > 0) amounts[dimension] = parsed.value;
  }
  return amounts;
}
