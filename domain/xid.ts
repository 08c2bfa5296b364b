/**
 * XIDs after which a GPU is of no use until it is reset, its machine restarted, or it is returned: the hardware class, by the
 * action that NVIDIA's catalogue names (https://docs.nvidia.com/deploy/xid-errors/).
 */
const HARDWARE: ReadonlySet<number> = new Set([
  46, 48, 54, 62, 64, 74, 79, 95, 109, 110, 119, 120, 136, 140, 143, 144, 145, 146, 147, 148, 149, 150, 151, 155, 156,
  158,
]);

/** Whether an XID is of the hardware class: the ledger's GPU is unavailable under it, and on-call hears of it. */
export function isHardwareXid(code: number): boolean {
  return HARDWARE.has(code);
}

/** The codes of the hardware class, in order. */
export const HARDWARE_XIDS: readonly number[] = [...HARDWARE].toSorted((a, b) => a - b);
