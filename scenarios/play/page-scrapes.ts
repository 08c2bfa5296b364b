import {
  createPageReader,
  failureMessages,
  messagesOf,
  type PageReader,
} from "../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../collectors/exporters/page/templates.ts";
import { nodeOf } from "../../collectors/exporters/targets/target.ts";
import type { ScrapeMoment } from "../../domain/messages/scrape-message.ts";
import type { ScrapeOrigin, ScrapeShape } from "../../domain/scrape.ts";
import type { PageSource, ScenarioFiles } from "../files.ts";

/** A message of a scrape, with its node. */
export interface PlayedScrape {
  readonly origin: ScrapeOrigin;
  readonly message: Uint8Array;
}

/** An exporter with its pages in files. */
export interface PlayedExporter {
  /** Returns the messages that the collector makes of a page; none before the first page. */
  scrape(moment: Omit<ScrapeMoment, "dropped">): readonly PlayedScrape[];
}

const TEMPLATE_BYTES = 256_000_000;
/** A page from a Prometheus has the rows of a whole cluster. */
const LIMITS = { series: 1_000_000, devices: 100_000 };

/** Returns the exporters of a scenario's pages. The times of calls must be ascending. */
export function createPageExporters(
  { cluster, pages }: Pick<ScenarioFiles, "cluster" | "pages">,
  collector: string,
): readonly PlayedExporter[] {
  const reader = createPageReader(createTemplates(TEMPLATE_BYTES), LIMITS);
  return pages.map((source, index) => createPageExporter(reader, source, { cluster, index, collector }));
}

function createPageExporter(
  reader: PageReader,
  { node, states }: PageSource,
  { cluster, index, collector }: { readonly cluster: string; readonly index: number; readonly collector: string },
): PlayedExporter {
  const url = `http://${node ?? `page-${index}`}:9400/metrics`;
  const target = { url, labels: node === undefined ? {} : { node } };
  let origins: readonly ScrapeOrigin[] = [];
  const source = {
    key: url,
    origin: ({ devices }: ScrapeShape, host: string) => {
      const name = host === "" ? nodeOf(target, devices) : host;
      return { cluster, node: name, target: url, collector };
    },
  };
  return {
    scrape(moment) {
      const page = states.findLast(({ from }) => from <= moment.scrapedAtMillis)?.page;
      if (page === undefined) {
        const failure = { reason: "timeout", detail: "the exporter is silent" } as const;
        return failureMessages(origins, { ...moment, failure });
      }
      const reading = reader.read(source, page, true);
      if ("failure" in reading) return failureMessages(origins, { ...moment, failure: reading.failure });
      if (!reading.templated) origins = reading.hosts.map(({ origin }) => origin);
      return messagesOf(reading, moment);
    },
  };
}
