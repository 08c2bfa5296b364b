import { XID_CATALOG, type XidAction } from "./catalog.ts";

/**
 * The severity of an XID.
 * - `hardware`: the GPU is unusable until it is reset, its machine is restarted, or it is returned.
 * - `memory`: its memory ages; it continues to work.
 * - `application`: the running program failed; the GPU is healthy.
 * - `warning`: any other.
 */
export type XidClass = "hardware" | "memory" | "application" | "warning";

const MEMORY: readonly number[] = [63, 92, 94, 121, 157];
/** Codes that programs cause, whatever action the catalog recommends. */
const APPLICATION: readonly number[] = [8, 11, 13, 25, 31, 32, 37, 43, 45, 68, 69, 80];
const CLASS_OF_ACTION: Readonly<Record<XidAction, XidClass>> = {
  "restart the application": "application",
  "reset the GPU": "hardware",
  "restart the machine": "hardware",
  "check the power cables": "hardware",
  "check the NVLinks": "hardware",
  "update driver and firmware": "warning",
  "look at the code that came with it": "warning",
  none: "warning",
};

/** Returns the class of an XID: from the list that contains it, otherwise from the action in NVIDIA's catalog, otherwise `warning`. */
export function xidClassOf(code: number): XidClass {
  if (MEMORY.includes(code)) return "memory";
  if (APPLICATION.includes(code)) return "application";
  const entry = XID_CATALOG.find((each) => each.code === code);
  return entry === undefined ? "warning" : CLASS_OF_ACTION[entry.action];
}

/** Returns the codes of a class that NVIDIA's catalog describes, sorted. */
export function xidsOf(xidClass: XidClass): readonly number[] {
  return XID_CATALOG.map(({ code }) => code).filter((code) => xidClassOf(code) === xidClass);
}

/** The codes of the hardware class, sorted. */
export const HARDWARE_XIDS: readonly number[] = xidsOf("hardware");
const HARDWARE: ReadonlySet<number> = new Set(HARDWARE_XIDS);

/** Returns whether an XID is of the hardware class. The ledger's GPU is unavailable under it, and on-call is alerted. */
export function isHardwareXid(code: number): boolean {
  return HARDWARE.has(code);
}
