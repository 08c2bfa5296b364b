import { SCRAPE_SCHEMA_VERSION, sampleKey } from "../../../domain/messages/scrape-message.ts";
import { BACKFILL_HEADER } from "../../../domain/messages/topics.ts";
import { IMPORT_COLLECTOR } from "../../../domain/scrape.ts";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS, dayOf } from "../../../domain/time.ts";
import type { OutgoingMessage } from "../../../runtime/bus/bus.ts";
import type { PrometheusClient } from "../read/client.ts";
import type { SampleSource } from "../read/source.ts";
import type { Span } from "../read/samples.ts";
import { SourceError } from "../read/source-error.ts";
import type { Matcher } from "../read/wire.ts";
import type { CollectedMinutes } from "./collected.ts";
import { findValues, ofInstances } from "./discover.ts";
import type { ImportedScrapes } from "./scrapes.ts";
import { createWindows, type Windows } from "./windows.ts";

/** The counts of imported samples. */
export interface SampleCounts {
  readonly scrapes: number;
  readonly values: number;
  /** Scrapes in minutes in which a collector scraped the same node. */
  readonly leftOut: number;
}

/** The dependencies of an import of samples. */
export interface SamplesOptions {
  readonly client: PrometheusClient;
  readonly source: SampleSource;
  readonly scrapes: ImportedScrapes;
  /** The conditions on the series to read. */
  readonly matchers: readonly Matcher[];
  /** The expected number of series at a time, and of their samples in a minute. */
  readonly expected: { readonly series: number; readonly samplesPerMinute: number };
  readonly collected: (span: Span) => Promise<CollectedMinutes>;
  readonly send: (messages: readonly OutgoingMessage[]) => Promise<void>;
  /** Called after each window with its end and the counts until then. The next window is sent after the promise resolves. */
  readonly onReached: (untilMillis: number, counts: SampleCounts) => Promise<void>;
  readonly signal: AbortSignal;
}

/** The most values of an answer. Two answers are in memory. */
const MOST_VALUES = 12_000_000;
const CHUNK_MILLIS = 2 * HOUR_MILLIS;
const LONGEST_WINDOW_MILLIS = 3 * CHUNK_MILLIS;
const SHORTEST_WINDOW_MILLIS = MINUTE_MILLIS;
/** Windows of many targets are split by target down to this length, which has one chunk and a half at the usual interval. */
const SPLIT_WINDOW_MILLIS = 90 * MINUTE_MILLIS;
const BATCH_BYTES = 2 * 1024 * 1024;
/** The longest regular expression of addresses. */
const MOST_INSTANCES = 2000;
const HEADERS = { [BACKFILL_HEADER]: IMPORT_COLLECTOR };

/**
 * Sends the scrapes of a span as messages, window by window in the order of time. The next window is read while one is sent. If the server
 * refuses an answer as too large, less is requested at once. Fails with a {@link SourceError}.
 */
export async function importSamples(options: SamplesOptions, span: Span): Promise<SampleCounts> {
  const counts = { scrapes: 0, values: 0, leftOut: 0 };
  const reading = readWindows(options, span);
  let next = reading.next();
  for (;;) {
    const { done, value } = await next;
    if (done === true) return counts;
    next = reading.next();
    // Awaited after the sending. Until then, a failure must not end the process.
    next.catch(() => {});
    await sendWindow(options, value, counts);
    if (value.isLast) await options.onReached(value.span.untilMillis, counts);
  }
}

/** The samples of some targets in a window of time. */
interface ReadWindow {
  readonly span: Span;
  readonly windows: Windows;
  /** True if no other targets of the window follow. */
  readonly isLast: boolean;
}

/** Yields the windows of a span. A window that has many targets comes in several parts. */
async function* readWindows(
  { client, source, matchers, expected, signal }: SamplesOptions,
  { fromMillis, untilMillis }: Span,
): AsyncGenerator<ReadWindow, void, undefined> {
  /** How much less than expected is requested at once. It doubles with each answer that was too large. */
  let caution = 1;
  let day: { readonly start: number; readonly instances: readonly string[] } | undefined;
  for (let at = fromMillis; at < untilMillis;) {
    if (day?.start !== dayOf(at)) {
      const ofDay = { fromMillis: dayOf(at), untilMillis: dayOf(at) + DAY_MILLIS };
      day = { start: dayOf(at), instances: await findValues(client, "instance", matchers, ofDay) };
    }
    const plan = windowOf(expected, caution, day.instances.length);
    const span = {
      fromMillis: at,
      untilMillis: Math.min(endOf(at, plan.lengthMillis), untilMillis, day.start + DAY_MILLIS),
    };
    const moments = Math.ceil(((span.untilMillis - at) / MINUTE_MILLIS) * expected.samplesPerMinute) + 1;
    try {
      const parts = batches(day.instances, plan.batches);
      for (const [index, part] of parts.entries()) {
        signal.throwIfAborted();
        const windows = createWindows(span, moments);
        await source.read([...matchers, ...part], span, windows.onSeries);
        yield { span, windows, isLast: index === parts.length - 1 };
      }
      at = span.untilMillis;
    } catch (error) {
      const isSmallest = plan.lengthMillis === SHORTEST_WINDOW_MILLIS && plan.batches >= day.instances.length;
      if (!(error instanceof SourceError) || error.kind !== "limit" || isSmallest) throw error;
      caution *= 2;
    }
  }
}

/** Returns the end of a window. Prometheus cuts its chunks every two hours, so that a window with such ends reads no chunk in part. */
function endOf(fromMillis: number, lengthMillis: number): number {
  const end = fromMillis + lengthMillis;
  return lengthMillis < CHUNK_MILLIS ? end : end - (end % CHUNK_MILLIS);
}

/** Returns the length of the next window, and the number of parts into which its targets are split. */
function windowOf(
  { series, samplesPerMinute }: SamplesOptions["expected"],
  caution: number,
  instances: number,
): { readonly lengthMillis: number; readonly batches: number } {
  const perMinute = Math.max(1, series * samplesPerMinute) * caution;
  const length = Math.floor(MOST_VALUES / perMinute) * MINUTE_MILLIS;
  const least = caution === 1 ? SPLIT_WINDOW_MILLIS : SHORTEST_WINDOW_MILLIS;
  const lengthMillis = Math.min(LONGEST_WINDOW_MILLIS, Math.max(least, length));
  const bySize = Math.ceil((perMinute * (lengthMillis / MINUTE_MILLIS)) / MOST_VALUES);
  const byNames = Math.ceil(instances / MOST_INSTANCES);
  return { lengthMillis, batches: Math.max(1, Math.min(instances, bySize === 1 ? 1 : Math.max(bySize, byNames))) };
}

/** Returns the conditions on the targets of each part. Targets without an address are in the first part. */
function batches(instances: readonly string[], count: number): readonly (readonly Matcher[])[] {
  if (count <= 1) return [[]];
  const size = Math.ceil(instances.length / count);
  return Array.from({ length: Math.ceil(instances.length / size) }, (_, index) => {
    const ofPart = instances.slice(index * size, (index + 1) * size);
    return [ofInstances(index === 0 ? ["", ...ofPart] : ofPart)];
  });
}

async function sendWindow(
  { scrapes, collected, send }: SamplesOptions,
  { span, windows }: ReadWindow,
  counts: { -readonly [Name in keyof SampleCounts]: number },
): Promise<void> {
  const minutes = await collected(span);
  let sending: Promise<void> = Promise.resolve();
  let batch: OutgoingMessage[] = [];
  let bytes = 0;
  /** Sends the batch while the next one is made. */
  const flush = async (): Promise<void> => {
    await sending;
    sending = send(batch);
    // Awaited before the next batch. Until then, a failure must not end the process.
    sending.catch(() => {});
    [batch, bytes] = [[], 0];
  };
  for (const target of windows.targets()) {
    for (const { origin, message, atMillis } of scrapes.messagesOf(target)) {
      if (minutes.has(origin.node, atMillis)) {
        counts.leftOut += 1;
        continue;
      }
      batch.push({ key: sampleKey(origin), value: message, schemaVersion: SCRAPE_SCHEMA_VERSION, headers: HEADERS });
      bytes += message.length;
      counts.scrapes += 1;
      if (bytes >= BATCH_BYTES) await flush();
    }
    counts.values += target.values;
  }
  await flush();
  await sending;
}
