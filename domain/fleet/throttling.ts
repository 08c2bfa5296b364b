/** The reasons for reduced clocks that are faults, by the bit of DCGM's field 112. Other bits are of normal work. */
export const THROTTLE_BITS = { hw_thermal: 0x40, sw_thermal: 0x20, power_brake: 0x80 } as const;

const FAULTS = Object.values(THROTTLE_BITS).reduce((mask, bit) => mask | bit, 0);

/** Returns whether clocks are reduced by a fault. */
export function isThrottled(clockReasons: number): boolean {
  return (clockReasons & FAULTS) !== 0;
}
