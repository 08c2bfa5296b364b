import { XID_CATALOG, type XidAction } from "./catalog.ts";

/**
 * How bad an XID is.
 * - `hardware`: the GPU is of no use until it is reset, its machine restarted, or it is returned.
 * - `memory`: its memory ages; it goes on working.
 * - `application`: the program that ran failed; the GPU is well.
 * - `warning`: any other.
 */
export type XidClass = "hardware" | "memory" | "application" | "warning";

const MEMORY: readonly number[] = [63, 92, 94, 121, 157];
/** Programs bring these about, whatever the catalogue would have done. */
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

/** The class of an XID: of the list that names it, else of the action in NVIDIA's catalogue, else `warning`. */
export function xidClassOf(code: number): XidClass {
  if (MEMORY.includes(code)) return "memory";
  if (APPLICATION.includes(code)) return "application";
  const entry = XID_CATALOG.find((each) => each.code === code);
  return entry === undefined ? "warning" : CLASS_OF_ACTION[entry.action];
}

/** The codes of a class that NVIDIA's catalogue describes, in order. */
export function xidsOf(xidClass: XidClass): readonly number[] {
  return XID_CATALOG.map(({ code }) => code).filter((code) => xidClassOf(code) === xidClass);
}

/** The codes of the hardware class, in order. */
export const HARDWARE_XIDS: readonly number[] = xidsOf("hardware");
const HARDWARE: ReadonlySet<number> = new Set(HARDWARE_XIDS);

/** Whether an XID is of the hardware class: the ledger's GPU is unavailable under it, and on-call hears of it. */
export function isHardwareXid(code: number): boolean {
  return HARDWARE.has(code);
}
