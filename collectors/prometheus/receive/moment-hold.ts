import { momentBytes } from "./moment.ts";
import type { Moment } from "./model.ts";

/** How long a sent moment is kept, so that late samples lead to the whole moment again. */
const KEPT_MILLIS = 120_000;
/** How long a sent moment is kept that had fewer series than the one before. Its other samples may wait in a slow shard of the sender. */
const KEPT_LACKING_MILLIS = 600_000;

/** The moments in memory: those that wait for samples or for the bus, and those that were sent a short time ago. */
export interface MomentHold {
  /** Moments with samples that were not sent. */
  readonly unsent: ReadonlySet<Moment>;
  readonly size: number;
  readonly bytes: number;
  /** The first segment of the write-ahead log with a sample of a held moment; undefined without a moment. */
  readonly firstSegment: number | undefined;
  add(moment: Moment): void;
  grew(bytes: number): void;
  /** Notes that a moment has samples that were not sent. */
  changed(moment: Moment): void;
  /** Notes that a moment is being sent: it is neither unsent nor sent. */
  sending(moment: Moment): void;
  sent(moment: Moment, nowMillis: number): void;
  /** Forgets sent moments that are old, and the oldest sent ones until the moments fit in `mostBytes`. */
  forget(nowMillis: number, mostBytes: number): void;
}

/** Creates an empty hold. */
export function createMomentHold(): MomentHold {
  const unsent = new Set<Moment>();
  const sent = new Set<Moment>();
  const segments = new Map<number, number>();
  let [bytes, size] = [0, 0];

  function remove(moment: Moment): void {
    sent.delete(moment);
    bytes -= momentBytes(moment);
    size -= 1;
    const left = segments.get(moment.segment)! - 1;
    if (left === 0) segments.delete(moment.segment);
    else segments.set(moment.segment, left);
    moment.target.forget(moment);
  }

  return {
    unsent,
    get size() {
      return size;
    },
    get bytes() {
      return bytes;
    },
    get firstSegment() {
      return segments.size === 0 ? undefined : Math.min(...segments.keys());
    },
    add(moment) {
      size += 1;
      bytes += momentBytes(moment);
      segments.set(moment.segment, (segments.get(moment.segment) ?? 0) + 1);
    },
    grew: (more) => void (bytes += more),
    changed(moment) {
      sent.delete(moment);
      if (!moment.isSending) unsent.add(moment);
    },
    sending: (moment) => void unsent.delete(moment),
    sent(moment, nowMillis) {
      moment.sentAtMillis = nowMillis;
      sent.add(moment);
    },
    forget(nowMillis, mostBytes) {
      for (const moment of sent) {
        const age = nowMillis - moment.sentAtMillis;
        if (bytes <= mostBytes && age < KEPT_MILLIS) break;
        if (bytes > mostBytes || age >= (moment.lacksSeries ? KEPT_LACKING_MILLIS : KEPT_MILLIS)) remove(moment);
      }
    },
  };
}
