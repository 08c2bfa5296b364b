import { parseExposition } from "../../../collectors/exporters/exposition/parse.ts";
import { writeSamples } from "../prometheus-writer.ts";

type Texts = Readonly<Record<string, string>>;

/** A target of a {@link ScrapedPrometheus}. */
export interface ScrapedTarget {
  /** The labels that the Prometheus adds: `job`, `instance`, and those of its service discovery. */
  readonly labels: Texts;
  readonly honorLabels: boolean;
}

/**
 * A writer that fills a real Prometheus as if the Prometheus had scraped pages at past times: labels of targets, `up`, and a NaN where a series
 * ends. Scrapes must come in the order of time.
 */
export interface ScrapedPrometheus {
  /** Adds the scrape of a page; undefined if the scrape failed. */
  scrape(target: ScrapedTarget, atMillis: number, page: string | Buffer | undefined): void;
  /** Sends all scrapes to the server. */
  flush(): Promise<void>;
}

interface Filled {
  readonly labels: Texts;
  times: number[];
  values: number[];
}

/** Creates a writer to a Prometheus with a receiver of remote writes, or to another server with its own path. */
export function fillPrometheus(url: string, path?: string): ScrapedPrometheus {
  const series = new Map<string, Filled>();
  const lastOf = new Map<ScrapedTarget, ReadonlySet<string>>();
  /** The keys of a target's series, by the name and the labels on its page. */
  const keysOf = new Map<ScrapedTarget, Map<string, string>>();

  function keyOf(target: ScrapedTarget, name: string, labels: ReadonlyMap<string, string>): string {
    const keys = keysOf.get(target) ?? new Map<string, string>();
    keysOf.set(target, keys);
    let onPage = name;
    for (const [label, value] of labels) onPage += `\0${label}\0${value}`;
    const key = keys.get(onPage) ?? JSON.stringify({ __name__: name, ...asStored(labels, target) });
    keys.set(onPage, key);
    return key;
  }

  function add(key: string, atMillis: number, value: number): void {
    const found = series.get(key) ?? { labels: JSON.parse(key) as Texts, times: [], values: [] };
    series.set(key, found);
    found.times.push(atMillis);
    found.values.push(value);
  }

  return {
    scrape(target, atMillis, page) {
      const keys = new Set<string>();
      if (page !== undefined) {
        for (const { name, labels, value } of parseExposition(Buffer.from(page)).samples) {
          if (value === undefined) continue;
          const key = keyOf(target, name, labels);
          add(key, atMillis, value);
          keys.add(key);
        }
      }
      for (const key of lastOf.get(target) ?? []) if (!keys.has(key)) add(key, atMillis, Number.NaN);
      lastOf.set(target, keys);
      add(JSON.stringify({ __name__: "up", ...target.labels }), atMillis, page === undefined ? 0 : 1);
    },
    async flush() {
      await writeSamples(url, [...series.values()], path);
      series.clear();
    },
  };
}

/** Returns the labels of a sample as a Prometheus stores them. Empty labels are absent. */
function asStored(labels: ReadonlyMap<string, string>, { labels: added, honorLabels }: ScrapedTarget): Texts {
  const stored: Record<string, string> = { ...added };
  for (const [label, value] of labels) {
    if (value === "") continue;
    if (Object.hasOwn(added, label) && !honorLabels) stored[`exported_${label}`] = value;
    else stored[label] = value;
  }
  return stored;
}
