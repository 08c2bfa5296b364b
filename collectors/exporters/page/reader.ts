import { encodeScrape, encodeStable, type ScrapeMoment } from "../../../domain/messages/scrape-message.ts";
import { EMPTY_SHAPE, type LineDrop, type ScrapeFailure, type ScrapeOrigin } from "../../../domain/scrape.ts";
import { atOnce, type Steps } from "../../../runtime/steps.ts";
import { run } from "../fold/program.ts";
import { PageError } from "../http/page-error.ts";
import { createTally, readInFull } from "./full.ts";
import { GPU_PAGES, type PageSource } from "./gpu-pages.ts";
import { PAGE_LIMITS, type PageKind, type PageLimits } from "./kind.ts";
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

/** A page that was read into the parts of messages, or the reason why it is not a page of its kind. */
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

/** The messages of an attempt, one for each host. */
export type Messages = readonly { readonly origin: ScrapeOrigin; readonly message: Uint8Array }[];

/** Returns the messages of a page, one for each host. The first message has the drop counts. */
export function messagesOf(
  { hosts, dropped }: Extract<PageReading, { hosts: unknown }>,
  moment: Omit<ScrapeMoment, "dropped">,
): Messages {
  return hosts.map(({ origin, stable, values }, index) => ({
    origin,
    message: encodeScrape(stable, { ...moment, dropped: index === 0 ? dropped : {} }, values),
  }));
}

/** Returns the messages of a failed scrape of a GPU exporter, one for each expected host. */
export function failureMessages(origins: readonly ScrapeOrigin[], moment: Omit<ScrapeMoment, "dropped">): Messages {
  return origins.map((origin) => ({ origin, message: emptyMessage(encodeStable(origin, EMPTY_SHAPE), moment) }));
}

/** Returns the message of an attempt without rows. */
export function emptyMessage(stable: Uint8Array, moment: Omit<ScrapeMoment, "dropped">): Uint8Array {
  return encodeScrape(stable, { ...moment, dropped: {} }, NO_VALUES);
}

const NO_VALUES = new Float64Array(0);

/** Reads pages by template, and in full if the text has changed. Both ways give the same bytes. */
export interface PageReader<Source = PageSource> {
  /**
   * Reads a page in steps. The page must not change until the last step. `complete` means that the transfer's framing proves that the page
   * is whole. Otherwise a last line without a line feed is dropped.
   */
  steps(source: Source, page: Buffer, complete: boolean): Steps<PageReading>;
  /** Reads a page in one step. */
  read(source: Source, page: Buffer, complete: boolean): PageReading;
}

/** Creates a reader of the pages of GPU exporters over one store of templates. */
export function createPageReader(templates: Templates, given: Partial<PageLimits> = {}): PageReader {
  return createReader(GPU_PAGES, templates, given);
}

/**
 * Creates a reader of a kind of pages over one store of templates. The keys of sources are unique among all targets. Threads must not share a
 * reader, because it reuses scratch space.
 */
export function createReader<Source extends { readonly key: string }>(
  kind: PageKind<Source>,
  templates: Templates,
  given: Partial<PageLimits> = {},
): PageReader<Source> {
  const limits = { ...PAGE_LIMITS, ...given };
  let raw = new Float64Array(1024);
  let values = new Float64Array(1024);
  const hostReadings = (hosts: Template["hosts"]): readonly HostReading[] =>
    hosts.map(({ origin, stable, from, until }) => ({ origin, stable, values: values.subarray(from, until) }));

  function* steps(source: Source, page: Buffer, complete: boolean): Steps<PageReading> {
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

  function* read(source: Source, page: Buffer, complete: boolean): Steps<PageReading> {
    const { exposition, plan, dropped: planned } = yield* readInFull(page, complete, { kind, source, limits });
    const { program, hosts, gpus, columns } = plan;
    const cut = yield* cutPage(page, exposition.samples);
    if (cut === undefined) templates.release(source.key);
    else templates.keep(source.key, cut, { program, hosts, gpus, columns, dropped: planned });
    // From here on in one step, because all pages share the scratch space.
    if (raw.length < program.cells.length) raw = new Float64Array(program.cells.length * 2);
    if (values.length < program.allCells) values = new Float64Array(program.allCells * 2);
    exposition.samples.forEach((sample, i) => (raw[i] = sample.value!));
    const dropped = createTally(planned);
    run(program, raw, values, dropped.count);
    return { hosts: hostReadings(hosts), gpus, columns, dropped: dropped.total(), templated: false };
  }

  return { steps, read: (source, page, complete) => atOnce(steps(source, page, complete)) };
}
