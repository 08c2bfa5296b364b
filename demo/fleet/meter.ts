import { loadAt, loadBetween } from "./load.ts";
import type { FleetNode, Slot } from "./node.ts";
import type { Tenancy } from "./span.ts";
import { tenancyAt } from "./tenancy.ts";
import { nobody } from "./span.ts";
import { bootedAt } from "./troubles.ts";

/** The state of a slot at a time: its tenancy, its load, and the area under the load since the driver was loaded. */
export interface SlotMeter {
  /** Moves to a time, forward or back. The values below are of that time and depend on nothing else. */
  moveTo(timeMillis: number): void;
  readonly tenancy: Tenancy;
  readonly load: number;
  /** The mean load of the last minutes, for values that follow slowly. */
  readonly lateLoad: number;
  /** Seconds at full load since the driver was loaded. */
  readonly loadSeconds: number;
}

const LAG_SECONDS = 150;

/**
 * Creates a meter of one slot. It remembers its position, so that the next time is cheap. The area is always the sum over the tenancies
 * since the driver was loaded, so that it does not depend on the order of calls.
 */
export function createSlotMeter(node: FleetNode, slot: Slot): SlotMeter {
  let bootMillis = Number.NaN;
  let tenancy: Tenancy = nobody(Infinity, -Infinity);
  /** The area at the beginning of the tenancy, or at boot if that is later. */
  let areaBefore = 0;

  const begin = (): number => Math.max(tenancy.fromMillis, bootMillis) / 1000;
  const meter = {
    load: 0,
    lateLoad: 0,
    loadSeconds: 0,
    get tenancy() {
      return tenancy;
    },
    moveTo(timeMillis: number): void {
      const boot = bootedAt(node, timeMillis);
      if (boot !== bootMillis || timeMillis < tenancy.fromMillis) {
        bootMillis = boot;
        areaBefore = 0;
        tenancy = tenancyAt(slot, boot);
      }
      while (timeMillis >= tenancy.untilMillis) {
        areaBefore += loadBetween(tenancy.load, begin(), tenancy.untilMillis / 1000);
        tenancy = tenancyAt(slot, tenancy.untilMillis);
      }
      const seconds = timeMillis / 1000;
      const from = begin();
      const { load } = tenancy;
      const area = loadBetween(load, from, seconds);
      meter.load = Math.max(0, loadAt(load, seconds));
      meter.loadSeconds = areaBefore + area;
      const lateFrom = Math.max(from, seconds - LAG_SECONDS);
      meter.lateLoad = Math.max(0, lateFrom === from ? area : loadBetween(load, lateFrom, seconds)) / LAG_SECONDS;
    },
  };
  return meter;
}
