import type { ScrapedTarget } from "./quality.ts";

/** Targets that need somebody's eye, and those that are gone. */
export interface Standing {
  /** Their last scrapes failed, or they are late. */
  readonly bad: readonly ScrapedTarget[];
  /** Nothing comes of them any more while another target of their node speaks, as after an exporter was rolled out anew. */
  readonly gone: readonly ScrapedTarget[];
}

/** A target is late after as many of its intervals as a sample speaks for at most. */
const LATE_INTERVALS = 2.5;
/** After so many it is gone, where its node has another one that is not late. */
const GONE_INTERVALS = 10;

/** Tells targets that fail or are late from those that are gone, at a time in milliseconds since the epoch. */
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
