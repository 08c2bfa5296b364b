import type { ScrapeJob } from "./collector-model.ts";
import { createConnections } from "./http/connections.ts";
import { startTarget, type CollectorParts, type Running } from "./running-target.ts";
import { hash32 } from "./targets/hash.ts";
import type { Discovery, RefusedPod, Target } from "./targets/target.ts";

/** The targets of a job that are scraped, by URL. */
export interface RunningJob {
  readonly running: ReadonlyMap<string, Running>;
  /** Stops discovery, waits until the scrapes in progress are finished and sent, and closes the connections. */
  stop(): Promise<void>;
}

/** Starts the discoveries of a job, and follows their results. */
export function startJob(parts: CollectorParts, job: ScrapeJob): RunningJob {
  const { shard, templates, events } = parts;
  const connections = createConnections(job);
  const running = new Map<string, Running>();
  const found = new Map<Discovery, readonly Target[]>();
  const refused = new Map<Discovery, readonly RefusedPod[]>();
  const ending = new Set<Promise<void>>();

  const reconcile = (): void => {
    const wanted = new Map<string, Target>();
    for (const target of [...found.values()].flat()) {
      if (hash32(target.url) % shard.count === shard.index && !wanted.has(target.url)) wanted.set(target.url, target);
    }
    for (const [url, { loop, target, text, pages }] of running) {
      if (text === JSON.stringify(wanted.get(url))) continue;
      running.delete(url);
      const end = loop.stop().then(() => {
        ending.delete(end);
        if (running.has(url)) return;
        templates.release(pages.template);
        for (const each of [url, ...(target.companions ?? [])]) connections.drop(new URL(each).origin);
      });
      ending.add(end);
    }
    for (const [url, target] of wanted)
      if (!running.has(url)) running.set(url, startTarget(parts, job, connections, target));
    events.onTargets(job.name, running.size);
    events.onRefused(job.name, [...refused.values()].flat());
  };
  for (const discovery of job.discoveries) {
    discovery.start(
      (targets, pods) => {
        found.set(discovery, targets);
        refused.set(discovery, pods);
        reconcile();
      },
      (error) => events.onDiscoveryError(job.name, discovery.name, error),
    );
  }
  return {
    running,
    async stop() {
      await Promise.all(job.discoveries.map((discovery) => discovery.stop()));
      await Promise.all([...ending, ...[...running.values()].map(({ loop }) => loop.stop())]);
      connections.close();
    },
  };
}
