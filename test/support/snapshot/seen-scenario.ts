import type { ScenarioFiles } from "../../../scenarios/files.ts";
import type { Seen, SeenObject } from "../../../snapshot/seen.ts";

/** The time between the two readings of a page. */
const BETWEEN_MILLIS = 5_000;

/** Returns what a snapshot would have seen of a scenario's files at a time: the last states of the objects, and the pages that last. */
export function seenAt({ objects, pages }: ScenarioFiles, atMillis: number): Seen {
  const last = new Map<string, SeenObject>();
  for (const { atMillis: from, object, isGone } of objects) {
    if (from > atMillis) continue;
    if (isGone === true) last.delete(object.metadata.uid);
    else last.set(object.metadata.uid, object);
  }
  return {
    atMillis,
    objects: [...last.values()],
    exporters: pages.map(({ node, states }, index) => {
      const page = states.findLast(({ from }) => from <= atMillis)?.page;
      const readingAt = (at: number) =>
        page === undefined ? { atMillis: at, failure: "the exporter is silent" } : { atMillis: at, page: () => page };
      return {
        target: node ?? `page-${index}`,
        node,
        readings: [readingAt(atMillis - BETWEEN_MILLIS), readingAt(atMillis)],
      };
    }),
    unseen: [],
  };
}
