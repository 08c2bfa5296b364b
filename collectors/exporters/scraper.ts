import type { LineDrop, ScrapeFailure } from "../../domain/scrape.ts";
import type { PageRequest } from "./http/fetch-page.ts";
import { fetchTarget, type MissedCompanion } from "./http/fetch-target.ts";
import type { Connections } from "./http/connections.ts";
import type { ReceiveBuffers } from "./http/receive-buffers.ts";
import { messagesOf, type Messages } from "./page/reader.ts";
import type { StepRunner, Steps } from "../../runtime/steps.ts";
import type { TargetPages } from "./target-pages.ts";
import type { Target } from "./targets/target.ts";

/** The finished messages of a scrape, with its statistics. */
export interface ScrapeOutcome {
  /** One message for each host with rows on the page. */
  readonly messages: Messages;
  readonly pageBytes: number;
  readonly durationSeconds: number;
  readonly values: number;
  readonly gpus: number;
  /** Rows of all messages. */
  readonly rows: number;
  /** The page's columns: canonical metrics, then others under the exporter's names; empty if the page could not be read. */
  readonly columns: readonly string[];
  readonly templated: boolean;
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
  readonly failure?: Failure;
  readonly missed: readonly MissedCompanion[];
  /** Returns the same attempt as a failed one, for use if the bus refuses `messages`. */
  readonly failedWith: (failure: Failure) => ScrapeOutcome;
}

interface Failure {
  readonly reason: ScrapeFailure;
  readonly detail: string;
}

/** Scrapes one target once per call. Each attempt, also a failed one, becomes a message for each host. */
export type Scraper = () => Promise<ScrapeOutcome>;

/** The dependencies that scrapers share. */
export interface ScraperDeps {
  /** When the scraping of this target began. With the sequence it orders messages and shows gaps. */
  readonly epoch: number;
  readonly steps: StepRunner;
  readonly connections: Connections;
  readonly buffers: ReceiveBuffers;
  readonly now: () => number;
}

/** Creates a scraper of one target. Its sequence starts at 0 with the epoch. */
export function createScraper(
  deps: ScraperDeps,
  pages: TargetPages,
  target: Pick<Target, "url" | "companions">,
  job: Omit<PageRequest, "url"> & { readonly intervalMillis: number },
): Scraper {
  let sequence = 0;

  return async () => {
    const scrapedAtMillis = deps.now();
    const started = performance.now();
    const { answer, missed } = await fetchTarget(deps.connections, deps.buffers, target, job);
    const durationMillis = performance.now() - started;
    const moment = {
      epoch: deps.epoch,
      sequence: sequence++,
      scrapedAtMillis,
      intervalMillis: job.intervalMillis,
      durationMicros: Math.round(durationMillis * 1000),
    };
    const attempt = {
      pageBytes: "page" in answer ? answer.page.length : 0,
      durationSeconds: durationMillis / 1000,
      missed,
    };
    const failed = (failure: Failure): ScrapeOutcome => ({
      ...attempt,
      messages: pages.failed({ ...moment, failure }),
      failedWith: failed,
      values: 0,
      gpus: 0,
      rows: 0,
      columns: [],
      templated: false,
      dropped: {},
      failure,
    });
    if (!("page" in answer)) return failed(answer);
    const { page, complete, release } = answer;
    function* read(): Steps<ScrapeOutcome> {
      const reading = yield* pages.steps(page, complete);
      if ("failure" in reading) return failed(reading.failure);
      const { hosts, gpus, columns, dropped, templated } = reading;
      const values = hosts.reduce((sum, host) => sum + host.values.length, 0);
      return {
        ...attempt,
        messages: messagesOf(reading, moment),
        failedWith: failed,
        values,
        gpus,
        rows: columns.length === 0 ? 0 : values / columns.length,
        columns,
        templated,
        dropped,
      };
    }
    return deps.steps.run(read()).finally(release);
  };
}
