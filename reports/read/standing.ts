import type { ScrapedTarget } from "./quality.ts";

/** Targets that need attention, and targets that are gone. */
export interface Standing {
  /** Targets whose last scrapes failed, or which are late. */
  readonly bad: readonly ScrapedTarget[];
  /** Targets without scrapes while another target of their node has some, for example after a new rollout of an exporter. */
  readonly gone: readonly ScrapedTarget[];
}

/** The number of intervals after which a target is late: the longest validity of a sample. */
const LATE_INTERVALS = 2.5;
/** The number of intervals after which a target is gone, if its node has another target that is not late. */
const GONE_INTERVALS = 10;

/** Separates targets that fail or are late from those that are gone, at a time in milliseconds since the epoch. */
export function standingOf(targets: readonly ScrapedTarget[], at: number): Standing {
  const isSilentFor = ({ lastAt, intervalSeconds }: ScrapedTarget, intervals: number): boolean =>
    at - lastAt > intervals * intervalSeconds * 1000;
  const nodeOf = ({ cluster, node }: ScrapedTarget): string => JSON.stringify([cluster, node]);
  const speaking = new Set(targets.filter((target) => !isSilentFor(target, LATE_INTERVALS)).map(nodeOf));
  const isGone = (target: ScrapedTarget): boolean =>
    target.node !== "" && isSilentFor(target, GONE_INTERVALS) && speaking.has(nodeOf(target));
  return {
    bad: targets.filter((target) => !isGone(target) && (target.failed > 0 || isSilentFor(target, LATE_INTERVALS))),
    gone: targets.filter(isGone),
  };
}
