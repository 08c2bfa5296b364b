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
    ...given({ allocated: millisOf(allocation?.allocationTimestamp) }),
  };
}

/** Reads the GPUs and MIG devices of a ResourceSlice; undefined if it has none, like slices of network drivers. */
export function readSlice(object: ResourceSliceObject): ClusterFactBodies["ResourceSlice"] | undefined {
  const { spec } = object;
  const driver = text(spec?.driver) ?? "";
  const devices = objects(spec?.devices).flatMap((device) => readDevice(device, driver) ?? []);
  if (devices.length === 0 && !/(^|\.)gpu\./.test(driver)) return undefined;
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
  if (uuid === undefined && !/gpu|mig/i.test(type ?? "")) return undefined;
  return {
    name: text(name) ?? "",
    ...given({
      uuid,
      pciBusId: value("resource.kubernetes.io/pciBusID", "pciBusID", "pciAddr"),
      model: value("productName", "model"),
      parentUuid: value("parentUUID"),
      profile: value("profile"),
      memoryMiB: memory > 0 ? Math.round(memory / BYTES_IN_MIB) : undefined,
      capacity: own.allowMultipleAllocations === true ? capacity : undefined,
      isPartition: type === AMD_PARTITION && own.allowMultipleAllocations !== true ? (true as const) : undefined,
      taints: taints.length > 0 ? taints : undefined,
    }),
  };
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
