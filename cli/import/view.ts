import { counted } from "../../domain/counted.ts";
import type { Writable } from "node:stream";
import type { ImportEvents, Imported } from "../../collectors/prometheus/import/import.ts";
import type { SampleCounts } from "../../collectors/prometheus/import/samples.ts";
import type { Span } from "../../collectors/prometheus/read/samples.ts";
import { durationText } from "./duration.ts";

/** The output of an import while it runs, and at its end. */
export interface ImportView extends ImportEvents {
  summary(imported: Imported): string;
}

const EVERY_MILLIS = 10_000;

/** Creates the output of an import of a span. `reachedMillis` is where an earlier run ended. */
export function createImportView(options: {
  readonly found: Span;
  readonly reachedMillis: number | undefined;
  readonly stderr: Writable;
}): ImportView {
  const { found, reachedMillis, stderr } = options;
  const begun = performance.now();
  const from = reachedMillis ?? found.fromMillis;
  const objects = new Map<string, number>();
  let shownAt = begun;
  /** When the first window ended. The time of the facts does not show how long the samples take. */
  let samplesBegun: number | undefined;
  if (reachedMillis !== undefined) stderr.write(`continues at ${minuteOf(reachedMillis)}\n`);

  return {
    onFacts(kind, count) {
      objects.set(kind, (objects.get(kind) ?? 0) + count);
      stderr.write(`sent the facts of ${objects.get(kind)} ${kind}\n`);
      samplesBegun = performance.now();
    },
    onReached(untilMillis, { values }: SampleCounts) {
      const now = performance.now();
      if (now - shownAt < EVERY_MILLIS && untilMillis < found.untilMillis) return;
      shownAt = now;
      const seconds = (now - (samplesBegun ?? begun)) / 1000;
      const done = (untilMillis - from) / (found.untilMillis - from);
      const left = done === 0 ? "" : `, about ${durationText((seconds / done - seconds) * 1000)} left`;
      const rate = Math.round(values / Math.max(seconds, 0.001) / 1000).toLocaleString("en");
      stderr.write(`${minuteOf(untilMillis)}, ${Math.floor(done * 100)} %, ${rate} thousand values/s${left}\n`);
    },
    onWaiting(backlog) {
      const now = performance.now();
      if (now - shownAt < EVERY_MILLIS) return;
      shownAt = now;
      stderr.write(
        `waits until the processors have stored ${counted(backlog, "message", backlog.toLocaleString("en"))}\n`,
      );
    },
    summary({ counts: { scrapes, values, leftOut }, remarks }) {
      const lines = [
        `imported ${scrapes.toLocaleString("en")} scrapes with ${values.toLocaleString("en")} values in ${durationText(performance.now() - begun)}`,
        `from ${minuteOf(from)} until ${minuteOf(found.untilMillis)}; the ledger charges these hours now, and reports are without the hours that still wait`,
      ];
      if (leftOut > 0)
        lines.push(
          `left out ${leftOut.toLocaleString("en")} scrapes, because a collector scraped the node in the same minute`,
        );
      for (const { text, count, example } of remarks) lines.push(`${text} (${count}, such as ${example})`);
      return `${lines.join("\n")}\n`;
    },
  };
}

/** Returns a time as a text, exact to a minute. */
export function minuteOf(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
