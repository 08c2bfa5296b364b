import { IMPORT_COLLECTOR, type ScrapeOrigin } from "../../../domain/scrape.ts";
import { dayOf } from "../../../domain/time.ts";
import { FAILED_IN_PROMETHEUS } from "../origin.ts";
import type { FamilyMeta } from "../../exporters/exposition/parse.ts";
import { failureMessages } from "../../exporters/page/reader.ts";
import {
  createTargetSeries,
  type HostMessage,
  type NodeOfPod,
  type Series,
  type TargetSeries,
} from "../target-series.ts";
import type { ReplicaWindow, WindowOfTarget } from "./windows.ts";

/** The parts that the messages of all targets need. */
export interface ScrapesOptions {
  readonly cluster: string;
  readonly families: ReadonlyMap<string, FamilyMeta>;
  /** The jobs of which a series has `exported_pod` at any time. */
  readonly exportedJobs: ReadonlySet<string>;
  /** Returns the node of an exporter's pod at a time; undefined if it is unknown. */
  readonly nodeOfPod: (pod: Parameters<NodeOfPod>[0], atMillis: number) => string | undefined;
}

/** The scrapes of targets, window after window. */
export interface ImportedScrapes {
  /** Yields the messages of a target in a window, in the order of time. */
  messagesOf(target: WindowOfTarget): Generator<ImportedScrape, void, undefined>;
}

/** The message of one scrape of one host. */
export interface ImportedScrape extends HostMessage {
  readonly atMillis: number;
}

/** Without other scrapes of a target, the interval of a single one. */
const USUAL_INTERVAL_MILLIS = 30_000;

/** The series of one target as one Prometheus has them. */
interface Known {
  readonly columns: readonly Series[];
  readonly series: TargetSeries;
  /** The origins of the last messages. A failed scrape has no page with the name of its node. */
  origins: readonly ScrapeOrigin[];
}

/** Creates the scrapes of an import. The series of each target are kept from window to window as long as they stay the same. */
export function createImportedScrapes({ cluster, families, exportedJobs, nodeOfPod }: ScrapesOptions): ImportedScrapes {
  const known = new Map<string, Known>();

  function knownOf(key: string, { window, up }: ReplicaWindow, atMillis: number): Known {
    const { series: columns } = window;
    const found = known.get(key);
    if (found?.columns.length === columns.length && found.columns.every((each, index) => each === columns[index]))
      return found;
    const series = createTargetSeries({
      cluster,
      collector: IMPORT_COLLECTOR,
      targetLabels: up?.labels,
      isExported: exportedJobs.has(columns[0]?.labels.get("job") ?? ""),
      nodeOfPod: (pod) => nodeOfPod(pod, atMillis),
      families,
    });
    for (const each of columns) series.add(each);
    const made = { columns, series, origins: found?.origins ?? [] };
    known.set(key, made);
    return made;
  }

  return {
    *messagesOf({ key, replicas }) {
      const scraped = replicas.map(({ window }) => window.moments());
      const intervalMillis = intervalOf(longest(scraped).map(({ atMillis }) => atMillis));
      const places = replicas.map((replica, index) => ({
        window: replica.window,
        target: knownOf(`${key} ${index}`, replica, scraped[index]![0]?.atMillis ?? 0),
        up: replica.up === undefined ? undefined : replica.window.series.indexOf(replica.up),
      }));
      for (const { index, atMillis, row } of withoutReplicas(scraped, intervalMillis)) {
        const { window, target, up } = places[index]!;
        const { series } = target;
        const values = window.read(row);
        const isUp = up === undefined || values[up] !== 0;
        // It is a series of the Prometheus, not of the exporter.
        if (up !== undefined) values[up] = Number.NaN;
        const epoch = dayOf(atMillis);
        const sequence = Math.floor((atMillis - epoch) / intervalMillis);
        const moment = { epoch, sequence, scrapedAtMillis: atMillis, intervalMillis, durationMicros: 0 };
        const messages = isUp
          ? series.messagesAt(moment, values)
          : failureMessages(target.origins, { ...moment, failure: FAILED_IN_PROMETHEUS });
        if (isUp && messages.length > 0) target.origins = series.origins;
        for (const message of messages) yield { ...message, atMillis };
      }
    },
  };
}

type Moment = ReturnType<ReplicaWindow["window"]["moments"]>[number];

function longest(scraped: readonly (readonly Moment[])[]): readonly Moment[] {
  return scraped.reduce((one, other) => (other.length > one.length ? other : one), []);
}

/** Returns the moments of the replica with the most, and those of others where the taken ones have none within an interval. */
function withoutReplicas(
  scraped: readonly (readonly Moment[])[],
  intervalMillis: number,
): readonly (Moment & { readonly index: number })[] {
  const all = scraped.map((moments, index) => moments.map((moment) => ({ ...moment, index })));
  const [most = [], ...others] = all.toSorted((a, b) => b.length - a.length);
  return others.reduce((taken, other) => {
    const times = Float64Array.from(taken, ({ atMillis }) => atMillis);
    const gaps = other.filter(({ atMillis }) => distance(times, atMillis) >= intervalMillis);
    return gaps.length === 0 ? taken : [...taken, ...gaps].toSorted((a, b) => a.atMillis - b.atMillis);
  }, most);
}

/** Returns the distance of a time to the nearest of some sorted times. */
function distance(times: Float64Array, atMillis: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! < atMillis) low = middle + 1;
    else high = middle;
  }
  const before = atMillis - (times[low - 1] ?? -Infinity);
  return Math.min(before, (times[low] ?? Infinity) - atMillis);
}

/** Returns the interval between sorted times: their median distance in whole seconds, or in milliseconds below one second. */
export function intervalOf(times: readonly number[]): number {
  const distances = times
    .slice(1)
    .map((at, index) => at - times[index]!)
    .toSorted((a, b) => a - b);
  const median = distances[distances.length >> 1] ?? USUAL_INTERVAL_MILLIS;
  return median >= 1000 ? Math.round(median / 1000) * 1000 : Math.max(1, median);
}
