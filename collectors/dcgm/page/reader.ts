import { encodeScrape, encodeStable, type ScrapeMoment } from "../../../domain/messages/scrape-message.ts";
import {
  EMPTY_SHAPE,
  type LineDrop,
  type ScrapeFailure,
  type ScrapeOrigin,
  type ScrapeShape,
} from "../../../domain/scrape.ts";
import { parseExposition, type Exposition, type ExpositionSample } from "../exposition/parse.ts";
import { planPage, type PagePlan } from "../fold/plan.ts";
import { run } from "../fold/program.ts";
import { SENTINEL_TEXT } from "../fold/row.ts";
import { cutPage } from "./layout.ts";
import { matchPage } from "./match.ts";
import type { Template, Templates } from "./templates.ts";

/** The rows of one host: the parts of a message. */
export interface HostReading {
  readonly origin: ScrapeOrigin;
  readonly stable: Uint8Array;
  /** The reader's own; they are overwritten by the next page. */
  readonly values: Float64Array;
}

/** A page read into the parts of messages, or the reason why it is no page of a GPU exporter. */
export type PageReading =
  | {
      /** One for each host of which the page has rows; one without rows where the page has none. */
      readonly hosts: readonly HostReading[];
      /** GPUs on the page; instances and sharing pods of one are one. */
      readonly gpus: number;
      /** Canonical metrics first, then what is unknown under the exporter's own name. */
      readonly columns: readonly string[];
      readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
      /** Whether the template of the page before was enough. */
      readonly templated: boolean;
    }
  | { readonly failure: { readonly reason: ScrapeFailure; readonly detail: string } };

/** The messages of a page, one for each of its hosts. What was left out stands in the first of them. */
export function messagesOf(
  { hosts, dropped }: Extract<PageReading, { hosts: unknown }>,
  moment: Omit<ScrapeMoment, "dropped">,
): readonly { readonly origin: ScrapeOrigin; readonly message: Uint8Array }[] {
  return hosts.map(({ origin, stable, values }, place) => ({
    origin,
    message: encodeScrape(stable, { ...moment, dropped: place === 0 ? dropped : {} }, values),
  }));
}

/** The messages of a scrape that failed, one for each host that was expected. */
export function failureMessages(
  origins: readonly ScrapeOrigin[],
  moment: Omit<ScrapeMoment, "dropped">,
): readonly { readonly origin: ScrapeOrigin; readonly message: Uint8Array }[] {
  return origins.map((origin) => ({
    origin,
    message: encodeScrape(encodeStable(origin, EMPTY_SHAPE), { ...moment, dropped: {} }, NO_VALUES),
  }));
}

const NO_VALUES = new Float64Array(0);

/** What the reader needs to know of a target. */
export interface PageSource {
  /** A key of its own for each target. */
  readonly key: string;
  /** Whom the rows of a host come from. The host has a name where the page has the rows of several. */
  readonly origin: (shape: ScrapeShape, host: string) => ScrapeOrigin;
  readonly seriesLimit: number;
}

/** Reads pages by templates, and in full where the text has changed. Both ways give the same bytes. */
export interface PageReader {
  /** `complete` says that the transfer's framing proves the page whole; else a last line without line feed is left out. */
  read(source: PageSource, page: Buffer, complete: boolean): PageReading;
}

/** A reader over one store of templates. Not to be shared between threads: scratch space is reused. */
export function createPageReader(templates: Templates): PageReader {
  let raw = new Float64Array(1024);
  let values = new Float64Array(1024);
  const hostReadings = (hosts: Template["hosts"]): readonly HostReading[] =>
    hosts.map(({ origin, stable, from, until }) => ({ origin, stable, values: values.subarray(from, until) }));

  return {
    read(source, page, complete) {
      const template = templates.get(source.key);
      if (template !== undefined && matchPage(page, template.layout, template, raw)) {
        const { program, hosts, gpus, columns } = template;
        const dropped = createTally(template.dropped);
        run(program, raw, values, dropped.count);
        return { hosts: hostReadings(hosts), gpus, columns, dropped: dropped.total(), templated: true };
      }
      const full = readInFull(page, complete);
      if ("reason" in full) return { failure: full };
      const { exposition, plan, dropped: planned } = full;
      if (exposition.samples.length > source.seriesLimit) {
        const detail = `${exposition.samples.length} series; the limit is ${source.seriesLimit}`;
        return { failure: { reason: "too-many-series", detail } };
      }
      const { program, shape } = plan;
      if (raw.length < program.cells.length) raw = new Float64Array(program.cells.length * 2);
      if (values.length < program.cellCount) values = new Float64Array(program.cellCount * 2);
      exposition.samples.forEach((sample, i) => (raw[i] = sample.value!));
      const dropped = createTally(planned);
      run(program, raw, values, dropped.count);
      const hosts = hostsOf(plan, source);
      const gpus = shape.devices.filter((device) => device.repeatsGpu !== true).length;
      const { columns } = shape;
      const cut = cutPage(page, exposition.samples);
      if (cut === undefined) templates.release(source.key);
      else templates.keep(source.key, cut, { program, hosts, gpus, columns, dropped: planned });
      return { hosts: hostReadings(hosts), gpus, columns, dropped: dropped.total(), templated: false };
    },
  };
}

/** The hosts of a planned page, and where the values of each lie. */
function hostsOf({ shape, hosts }: PagePlan, source: PageSource): Template["hosts"] {
  const width = shape.columns.length;
  let row = 0;
  return (hosts.length === 0 ? [{ name: "", rows: 0 }] : hosts).map(({ name, rows }) => {
    const first = row;
    row += rows;
    const own = { ...shape, devices: shape.devices.slice(first, row) };
    const origin = source.origin(own, name);
    return { origin, stable: encodeStable(origin, own), from: first * width, until: row * width };
  });
}

/** A page read without a template: its lines, the plan, and what the text alone leaves out. */
export interface FullReading {
  readonly exposition: Exposition;
  readonly plan: PagePlan;
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
  /** Samples whose value is no number. */
  readonly texts: readonly ExpositionSample[];
  /** The last sample, where the transfer may have cut it. */
  readonly truncated: ExpositionSample | undefined;
}

/** Reads a page by the reference parser; a failure where it is not the text format, or no GPU exporter's. */
export function readInFull(
  page: Buffer,
  complete: boolean,
): FullReading | { readonly reason: ScrapeFailure; readonly detail: string } {
  const parsed = parseExposition(page);
  const cutOff = parsed.unterminated && !complete && !parsed.ended;
  const last = parsed.samples.at(-1);
  const truncated = cutOff && last?.end === page.length ? last : undefined;
  const whole = parsed.samples.filter((sample) => sample !== truncated);
  const numbers = whole.filter((sample) => sample.value !== undefined);
  const texts = whole.filter((sample) => sample.value === undefined);
  if (parsed.samples.length === 0 && parsed.malformed.length > 0) {
    const { line, why } = parsed.malformed[0]!;
    return { reason: "not-exposition", detail: `no line can be read as a sample; line ${line}: ${why}` };
  }
  const exposition = { ...parsed, samples: numbers };
  const plan = planPage(numbers, parsed.families);
  if (numbers.length > 0 && !plan.known) {
    return { reason: "foreign-page", detail: `no series of a known GPU exporter; the first is ${numbers[0]!.name}` };
  }
  const tally = createTally({});
  for (const sample of texts) tally.add(SENTINEL_TEXT.test(sample.valueText) ? "sentinel" : "not-a-number");
  for (const _ of parsed.malformed) tally.add("malformed-line");
  if (truncated !== undefined) tally.add("unterminated-line");
  for (const { reason } of plan.drops) tally.add(reason);
  return { exposition, plan, dropped: tally.total(), texts, truncated };
}

/** Counts by reason on top of a base, which is given back as it is while nothing is added. */
function createTally(base: Readonly<Partial<Record<LineDrop, number>>>): {
  readonly add: (reason: LineDrop) => void;
  readonly count: (number: number, reason: LineDrop) => void;
  readonly total: () => Readonly<Partial<Record<LineDrop, number>>>;
} {
  let own: Partial<Record<LineDrop, number>> | undefined;
  const add = (reason: LineDrop): void => {
    own ??= { ...base };
    own[reason] = (own[reason] ?? 0) + 1;
  };
  return { add, count: (_, reason) => add(reason), total: () => own ?? base };
}
