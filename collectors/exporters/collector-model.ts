import type { LineDrop, ScrapeFailure } from "../../domain/scrape.ts";
import type { TlsOptions } from "./http/connections.ts";
import type { Credentials } from "./http/credentials.ts";
import type { LoopClock } from "./loop.ts";
import type { PageLimits } from "./page/kind.ts";
import type { ScrapeOutcome } from "./scraper.ts";
import type { TenantRules } from "./serving/tenants.ts";
import type { Discovery, RefusedPod } from "./targets/target.ts";

/** The kind of a job's pages: of GPU exporters, or of engines and gateways with the rules for their tenants. */
export type JobPages = { readonly kind: "gpus" } | { readonly kind: "serving"; readonly tenants: TenantRules };

/** A group of targets with the same discoveries, credentials and limits. */
export interface ScrapeJob {
  readonly name: string;
  readonly reads: JobPages;
  readonly discoveries: readonly Discovery[];
  readonly intervalMillis: number;
  readonly timeoutMillis: number;
  readonly bodyLimitBytes: number;
  readonly gzip: boolean;
  readonly redirects: "origin" | "host";
  readonly credentials: Credentials;
  readonly tls: TlsOptions | undefined;
}

/** The receiver of the finished messages of a topic. Resolves when the message is safe (see runtime/bus/spool.ts). */
export type SampleSink = (message: {
  readonly key: string;
  readonly value: Uint8Array;
  readonly schemaVersion: number;
  readonly headers?: Readonly<Record<string, string>>;
}) => Promise<void>;

/** The receiver of finished messages of all topics. */
export type TopicSink = (topic: string, message: Parameters<SampleSink>[0]) => Promise<void>;

/** Starts the trace of a scrape; undefined for a scrape that is not traced. */
export type StartTrace = (
  target: string,
) => { readonly traceparent: string; readonly end: (failure?: string) => void } | undefined;

/** The events of a collector, for its metrics and its log. */
export interface CollectorEvents {
  onScrape(job: string, target: string, outcome: ScrapeOutcome): void;
  onSkipped(job: string, target: string, count: number): void;
  onTargets(job: string, count: number): void;
  /** The pods that a job's discoveries refuse now: the whole list, at each change of targets or refusals. */
  onRefused(job: string, pods: readonly RefusedPod[]): void;
  onDiscoveryError(job: string, discovery: string, error: Error): void;
  onSinkError(job: string, target: string, error: unknown): void;
}

/** The state of one target, as `/api/status` shows it. */
export interface TargetState {
  readonly job: string;
  readonly reads: JobPages["kind"];
  readonly url: string;
  readonly node: string;
  /** GPUs of the last page that was read. */
  readonly gpus: number;
  /** Rows of the last page that was read: GPUs and their holders, or models, parts and tenants. */
  readonly rows: number;
  /** Columns of the last page that was read. */
  readonly columns: readonly string[];
  readonly lastScrapeAtMillis: number | undefined;
  readonly failure: { readonly reason: ScrapeFailure; readonly detail: string } | undefined;
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
}

/** The options of a collector. */
export interface CollectorOptions {
  readonly name: string;
  readonly cluster: string;
  readonly jobs: readonly ScrapeJob[];
  /** This collector's shard of the targets: those whose hash falls on `index` of `count`. */
  readonly shard: { readonly index: number; readonly count: number };
  readonly templateBytes: number;
  readonly limits: Partial<PageLimits>;
  readonly sink: TopicSink;
  readonly events: CollectorEvents;
  readonly startTrace: StartTrace;
  readonly clock: LoopClock;
}
