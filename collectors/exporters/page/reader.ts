import { encodeScrape, encodeStable, type ScrapeMoment } from "../../../domain/messages/scrape-message.ts";
import {
  EMPTY_SHAPE,
  type LineDrop,
  type ScrapeFailure,
  type ScrapeOrigin,
  type ScrapeShape,
} from "../../../domain/scrape.ts";
import { atOnce, type Steps } from "../../../runtime/steps.ts";
import { MOST_MESSAGE_BYTES } from "../../../runtime/bus/bus.ts";
import { parseSteps, type Exposition, type ExpositionLimits, type ExpositionSample } from "../exposition/parse.ts";
import { planSteps, type PagePlan, type PlanLimits } from "../fold/plan.ts";
import { run } from "../fold/program.ts";
import { SENTINEL_TEXT } from "../fold/row.ts";
import { PageError } from "../http/page-error.ts";
import { cutPage } from "./layout.ts";
import { matchPage } from "./match.ts";
import type { Template, Templates } from "./templates.ts";

/** The rows of one host: the parts of a message. */
export interface HostReading {
  readonly origin: ScrapeOrigin;
  readonly stable: Uint8Array;
  /** Owned by the reader. The next page overwrites them. */
  readonly values: Float64Array;
}

/** A page that was read into the parts of messages, or the reason why it is not a page of a GPU exporter. */
export type PageReading =
  | {
      /** One entry for each host with rows on the page; one entry without rows if the page has none. */
      readonly hosts: readonly HostReading[];
      /** The number of GPUs on the page. Instances and sharing pods of one GPU count as one. */
      readonly gpus: number;
      /** Canonical metrics first, then unknown metrics under the exporter's name. */
      readonly columns: readonly string[];
      readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
      /** True if the template of the previous page was sufficient. */
      readonly templated: boolean;
    }
  | { readonly failure: { readonly reason: ScrapeFailure; readonly detail: string } };

/** Returns the messages of a page, one for each host. The first message has the drop counts. */
export function messagesOf(
  { hosts, dropped }: Extract<PageReading, { hosts: unknown }>,
  moment: Omit<ScrapeMoment, "dropped">,
): readonly { readonly origin: ScrapeOrigin; readonly message: Uint8Array }[] {
  return hosts.map(({ origin, stable, values }, index) => ({
    origin,
    message: encodeScrape(stable, { ...moment, dropped: index === 0 ? dropped : {} }, values),
  }));
}

/** Returns the messages of a failed scrape, one for each expected host. */
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

/** The parts of a target that the reader needs. */
export interface PageSource {
  /** A unique key for each target. */
  readonly key: string;
  /** Returns the origin of a host's rows. The host has a name only if the page has rows of several hosts. */
  readonly origin: (shape: ScrapeShape, host: string) => ScrapeOrigin;
}

/** The limits of a page. A page beyond them is a failed scrape. */
export interface PageLimits extends ExpositionLimits, PlanLimits {
  /** The largest message of one host, in bytes. */
  readonly messageBytes: number;
}

/** The limits of the service, unless the configuration sets others. */
export const PAGE_LIMITS: PageLimits = {
  series: 100_000,
  devices: 10_000,
  messageBytes: MOST_MESSAGE_BYTES,
  // With all pod labels, a series has a few dozen labels on a line of a few kilobytes.
  lineBytes: 64 * 1024,
  labels: 256,
  labelName: 512,
  labelValue: 4096,
};

/** Reads pages by template, and in full if the text has changed. Both ways give the same bytes. */
export interface PageReader {
  /**
   * Reads a page in steps. The page must not change until the last step. `complete` means that the transfer's framing proves that the page
   * is whole. Otherwise a last line without a line feed is dropped.
   */
  steps(source: PageSource, page: Buffer, complete: boolean): Steps<PageReading>;
  /** Reads a page in one step. */
  read(source: PageSource, page: Buffer, complete: boolean): PageReading;
}

/** Creates a reader over one store of templates. Threads must not share it, because it reuses scratch space. */
export function createPageReader(templates: Templates, given: Partial<PageLimits> = {}): PageReader {
  const limits = { ...PAGE_LIMITS, ...given };
  let raw = new Float64Array(1024);
  let values = new Float64Array(1024);
  const hostReadings = (hosts: Template["hosts"]): readonly HostReading[] =>
    hosts.map(({ origin, stable, from, until }) => ({ origin, stable, values: values.subarray(from, until) }));

  function* steps(source: PageSource, page: Buffer, complete: boolean): Steps<PageReading> {
    const template = templates.get(source.key);
    if (template !== undefined && matchPage(page, template.layout, template, raw)) {
      const { program, hosts, gpus, columns } = template;
      const dropped = createTally(template.dropped);
      run(program, raw, values, dropped.count);
      return { hosts: hostReadings(hosts), gpus, columns, dropped: dropped.total(), templated: true };
    }
    try {
      return yield* read(source, page, complete);
    } catch (error) {
      if (error instanceof PageError) return { failure: { reason: error.reason, detail: error.message } };
      throw error;
    }
  }

  function* read(source: PageSource, page: Buffer, complete: boolean): Steps<PageReading> {
    const { exposition, plan, dropped: planned } = yield* readInFull(page, complete, limits);
    const { program, shape } = plan;
    const hosts = yield* hostsOf(plan, source, limits.messageBytes);
    const gpus = shape.devices.filter((device) => device.repeatsGpu !== true).length;
    const { columns } = shape;
    const cut = yield* cutPage(page, exposition.samples);
    if (cut === undefined) templates.release(source.key);
    else templates.keep(source.key, cut, { program, hosts, gpus, columns, dropped: planned });
    // From here on in one step, because all pages share the scratch space.
    if (raw.length < program.cells.length) raw = new Float64Array(program.cells.length * 2);
    if (values.length < program.cellCount) values = new Float64Array(program.cellCount * 2);
    exposition.samples.forEach((sample, i) => (raw[i] = sample.value!));
    const dropped = createTally(planned);
    run(program, raw, values, dropped.count);
    return { hosts: hostReadings(hosts), gpus, columns, dropped: dropped.total(), templated: false };
  }

  return { steps, read: (source, page, complete) => atOnce(steps(source, page, complete)) };
}

/** The most bytes of a message in addition to its host's rows: head, key and drop counts. */
const MOST_REST_BYTES = 4096;
const DEVICES_OF_STEP = 256;

/**
 * Returns the hosts of a planned page, with the position of each host's values. Throws a {@link PageError} `too-large` if the rows of a host
 * are too large for a message.
 */
export function* hostsOf(
  { shape, hosts }: PagePlan,
  source: PageSource,
  messageBytes: number,
): Steps<Template["hosts"]> {
  const width = shape.columns.length;
  const made: Template["hosts"][number][] = [];
  let row = 0;
  for (const { name, rows } of hosts.length === 0 ? [{ name: "", rows: 0 }] : hosts) {
    const first = row;
    row += rows;
    const own = { ...shape, devices: shape.devices.slice(first, row) };
    const valueBytes = MOST_REST_BYTES + rows * width * 8;
    const check = (bytes: number): void => {
      if (valueBytes + bytes <= messageBytes) return;
      throw new PageError("too-large", `the rows of one host are too large for a message of ${messageBytes} bytes`);
    };
    const devices: string[] = [];
    let length = 0;
    for (const [index, device] of own.devices.entries()) {
      if (index % DEVICES_OF_STEP === 0) yield;
      const text = JSON.stringify(device);
      devices.push(text);
      check((length += text.length));
    }
    const origin = source.origin(own, name);
    const stable = encodeStable(origin, own, devices);
    check(stable.length);
    made.push({ origin, stable, from: first * width, until: row * width });
  }
  return made;
}

/** A page that was read without a template: its lines, the plan, and the drop counts that follow from the text alone. */
export interface FullReading {
  readonly exposition: Exposition;
  readonly plan: PagePlan;
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
  /** Samples whose value is not a number. */
  readonly texts: readonly ExpositionSample[];
  /** The last sample, if the transfer may have cut it. */
  readonly truncated: ExpositionSample | undefined;
}

/**
 * Reads a page with the reference parser. Throws a {@link PageError} if it is not in the text format, not of a GPU exporter, or beyond the
 * limits.
 */
export function* readInFull(page: Buffer, complete: boolean, limits: PageLimits): Steps<FullReading> {
  const parsed = yield* parseSteps(page, limits);
  const cutOff = parsed.unterminated && !complete && !parsed.ended;
  const last = parsed.samples.at(-1);
  const truncated = cutOff && last?.end === page.length ? last : undefined;
  const whole = parsed.samples.filter((sample) => sample !== truncated);
  const numbers = whole.filter((sample) => sample.value !== undefined);
  const texts = whole.filter((sample) => sample.value === undefined);
  yield;
  if (parsed.samples.length === 0 && parsed.malformed.length > 0) {
    const { line, why } = parsed.malformed[0]!;
    throw new PageError("not-exposition", `no line can be read as a sample; line ${line}: ${why}`);
  }
  const exposition = { ...parsed, samples: numbers };
  const plan = yield* planSteps(numbers, parsed.families, limits);
  if (numbers.length > 0 && !plan.known) {
    const first = numbers[0]!.name.slice(0, LONGEST_NAME);
    throw new PageError("foreign-page", `no series of a known GPU exporter; the first is ${first}`);
  }
  const tally = createTally({});
  for (const sample of texts) tally.add(SENTINEL_TEXT.test(sample.valueText) ? "sentinel" : "not-a-number");
  for (const _ of parsed.malformed) tally.add("malformed-line");
  if (truncated !== undefined) tally.add("unterminated-line");
  for (const { reason } of plan.drops) tally.add(reason);
  return { exposition, plan, dropped: tally.total(), texts, truncated };
}

const LONGEST_NAME = 200;

/** Creates a tally of counts by reason on top of a base. Returns the base object itself if nothing is added. */
export function createTally(base: Readonly<Partial<Record<LineDrop, number>>>): {
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
