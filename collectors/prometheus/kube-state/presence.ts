import type { Run, Span } from "./runs.ts";

/** The parts of steps within which an object's next sample is not yet missing, and within which a change is not yet sampled. */
const MISSING_AFTER_STEPS = 1.5;
const LATE_STEPS = 1.25;

/** The times at which kube-state-metrics itself was seen. Without them, an outage of it looks like the end of all objects. */
export interface Presence {
  /** The longest time between a change and the first sample with it. */
  readonly lateMillis: number;
  readonly stepMillis: number;
  /** Returns whether kube-state-metrics had samples between two samples of an object, so that the object was absent in between. */
  isAbsentBetween(fromMillis: number, untilMillis: number): boolean;
  /** Returns whether kube-state-metrics still had samples after the last sample of an object. */
  isGoneAfter(lastMillis: number): boolean;
  /** Returns the first time from a time on at which kube-state-metrics was seen; undefined if there is none. */
  nextSeen(atMillis: number): number | undefined;
  /** Joins runs of one value that only an outage of kube-state-metrics separates. */
  bridge(runs: readonly Run[]): readonly Run[];
}

/** Creates the presence of kube-state-metrics from the spans of its samples, in order of time, and the time between two samples. */
export function createPresence(seen: readonly Span[], stepMillis: number): Presence {
  const margin = MISSING_AFTER_STEPS * stepMillis;

  function isAbsentBetween(fromMillis: number, untilMillis: number): boolean {
    const [from, until] = [fromMillis + margin, untilMillis - margin];
    return from < until && seen.some((span) => span.fromMillis < until && span.untilMillis > from);
  }

  return {
    lateMillis: LATE_STEPS * stepMillis,
    stepMillis,
    isAbsentBetween,
    isGoneAfter: (lastMillis) => (seen.at(-1)?.untilMillis ?? 0) > lastMillis + margin,
    nextSeen(atMillis) {
      const span = seen.find(({ untilMillis }) => untilMillis >= atMillis);
      return span === undefined ? undefined : Math.max(atMillis, span.fromMillis);
    },
    bridge(runs) {
      if (runs.length < 2) return runs;
      const bridged: Run[] = [];
      for (const run of runs) {
        const last = bridged.at(-1);
        const continues = last?.value === run.value && !isAbsentBetween(last.untilMillis, run.fromMillis);
        if (continues)
          bridged[bridged.length - 1] = { ...last, untilMillis: Math.max(last.untilMillis, run.untilMillis) };
        else bridged.push(run);
      }
      return bridged;
    },
  };
}
