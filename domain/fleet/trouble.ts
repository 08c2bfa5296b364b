import { counted } from "../counted.ts";
import { goodStatus, type InventoryFact } from "../inventory.ts";
import { XID_CATALOG } from "../xid/catalog.ts";
import { isHardwareXid } from "../xid/xid.ts";
import { THROTTLE_BITS } from "./throttling.ts";

/** The measurements of a GPU that show a fault; 0 where a measurement is missing. */
export interface FaultSigns {
  /** The last XID, which stays until the driver is loaded again. */
  readonly xid: number;
  readonly doubleBitErrors: number;
  readonly isRepairFailed: boolean;
  readonly isRepairPending: boolean;
  /** DCGM's field 112: the reasons for reduced clocks. */
  readonly clockReasons: number;
}

/** Returns the current faults of a GPU in words, most severe first. Empty for a GPU in good health. */
export function troublesOfGpu(signs: FaultSigns): readonly string[] {
  const { xid, doubleBitErrors, isRepairFailed, isRepairPending, clockReasons } = signs;
  const has = (bits: number): boolean => (clockReasons & bits) !== 0;
  return [
    isHardwareXid(xid) ? xidText(xid) : undefined,
    isRepairFailed ? "memory repair has failed" : undefined,
    doubleBitErrors > 0 ? counted(doubleBitErrors, "double-bit error") : undefined,
    isRepairPending ? "memory repair waits for a reset" : undefined,
    has(THROTTLE_BITS.hw_thermal | THROTTLE_BITS.sw_thermal) ? "slowed by heat" : undefined,
    has(THROTTLE_BITS.power_brake) ? "slowed by the power brake" : undefined,
  ].filter((trouble) => trouble !== undefined);
}

/** Returns an XID with NVIDIA's short description: `XID 79: the GPU is no longer reachable over PCIe`. */
export function xidText(code: number): string {
  const meaning = XID_CATALOG.find((entry) => entry.code === code)?.meaning;
  return meaning === undefined ? `XID ${code}` : `XID ${code}: ${meaning}`;
}

/** A fault of a node in words, and its beginning in milliseconds since the epoch. */
export interface NodeTrouble {
  readonly text: string;
  readonly since: number;
}

/** Returns the current faults of a node: it is not ready, or a condition reports a problem. */
export function troublesOfNode({ conditions }: Pick<InventoryFact, "conditions">): readonly NodeTrouble[] {
  return conditions.flatMap(({ type, status, reason, since }) => {
    if (type === "Ready") return status === "True" ? [] : [{ text: `not ready (${reason})`, since }];
    return status === "Unknown" || status === goodStatus(type) ? [] : [{ text: `${type} (${reason})`, since }];
  });
}
