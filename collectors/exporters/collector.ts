import { createStepRunner } from "../../runtime/steps.ts";
import type { CollectorOptions, TargetState } from "./collector-model.ts";
import { createReceiveBuffers } from "./http/receive-buffers.ts";
import { createPageReader, createReader } from "./page/reader.ts";
import { createTemplates } from "./page/templates.ts";
import { startJob } from "./running-job.ts";
import { SERVING_PAGES } from "./serving/pages.ts";

/** A running collector. */
export interface Collector {
  targets(): readonly TargetState[];
  readonly templates: { readonly templates: number; readonly bytes: number; readonly refused: number };
  /** Stops discovery, waits until the scrapes in progress are finished and sent, and closes the connections. */
  stop(): Promise<void>;
}

/** Starts the scrape loops of all jobs, and follows the results of their discoveries. */
export function startCollector(options: CollectorOptions): Collector {
  const templates = createTemplates(options.templateBytes);
  const parts = {
    ...options,
    templates,
    readers: {
      gpus: createPageReader(templates, options.limits),
      serving: createReader(SERVING_PAGES, templates, options.limits),
    },
    steps: createStepRunner(),
    buffers: createReceiveBuffers(),
  };
  const jobs = options.jobs.map((job) => startJob(parts, job));

  return {
    targets: () => jobs.flatMap(({ running }) => [...running.values()].map(({ state }) => state)),
    get templates() {
      return templates.stats;
    },
    async stop() {
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
}
