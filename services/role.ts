import type { PageSink } from "../processors/live/gpus/exposition.ts";
import type { MonthToDate } from "../processors/ledger/charging/month.ts";
import type { Registry } from "prom-client";
import type { WatcherState } from "../collectors/kubernetes/watcher/watcher.ts";
import type { SenderGap } from "../collectors/prometheus/receive/sender-gaps.ts";
import type { QueueView } from "../domain/queue/view.ts";
import type { LineDrop } from "../domain/scrape.ts";

/** The state of a running part, as shown in `/api/status`. */
export interface CollectorStatus {
  readonly targets: { readonly total: number; readonly up: number };
  readonly gpus: number;
  readonly valuesPerSecond: number;
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
  /** The first few targets whose last scrape failed. */
  readonly failing: readonly {
    readonly url: string;
    readonly node: string;
    readonly reason: string;
    readonly detail: string;
  }[];
  readonly spool: { readonly messages: number; readonly bytes: number; readonly dropped: number };
  /** The clusters of the configuration, watched by any collector. */
  readonly kubernetes: readonly WatcherState[];
  /** Absent without a port for remote write. */
  readonly remoteWrite?: RemoteWriteStatus;
}

/** The state of a collector's port for remote write. */
export interface RemoteWriteStatus {
  readonly address: string;
  readonly senders: number;
  /** Targets with GPUs, and those whose last scrape has not failed. */
  readonly targets: { readonly total: number; readonly up: number };
  readonly series: number;
  readonly memoryBytes: number;
  readonly logBytes: number;
  /** The parts that senders leave out. */
  readonly leftOut: readonly SenderGap[];
}

/** The state of a processor. */
export interface ProcessorStatus {
  readonly rowsStored: number;
  readonly rowsPerSecond: number;
  readonly lagMessages: number;
  /** The ages of the last stored scrapes: the median and the 99th percentile. */
  readonly freshnessSeconds: { readonly p50: number; readonly p99: number } | undefined;
  readonly deadLetters: number;
  readonly pausedPartitions: readonly number[];
  /** Set while this processor leads. */
  readonly leader: { readonly generation: number } | undefined;
  /** The pods that wait and the free capacity, from the leader; some seconds old. */
  readonly queue: QueueView | undefined;
  /** The rollups that this processor has made since its start. */
  readonly rollups: {
    /** The number of published windows. */
    readonly windows: number;
    /** The duration of the last one; `undefined` before the first. */
    readonly lastSeconds: number | undefined;
    /** The number of waiting windows. */
    readonly dirty: number;
  };
  /** The starts of ended hours that wait to be charged, or to be charged again; undefined if another processor leads. */
  readonly hoursWaiting: readonly number[] | undefined;
  /** The cost of teams in this month under the billing policy, from the leader; some seconds old. */
  readonly month: MonthToDate | undefined;
}

/** The state of the demo fleet. */
export interface DemoStatus {
  readonly targets: readonly { readonly url: string; readonly node: string }[];
  readonly gpus: number;
  /** Rows of history: sent, and in total. */
  readonly history: { readonly sent: number; readonly total: number };
}

/** A running part of the program: its state, its readiness, and its end. */
export interface Role<Status> {
  readonly registry: Registry;
  status(): Promise<Status>;
  /** Returns the reason why the part cannot work now; `undefined` if it can. */
  notReady(): string | undefined;
  stop(): Promise<void>;
}

/** A running processor. */
export interface ProcessorRole extends Role<ProcessorStatus> {
  /** Writes the joined series of the GPUs on its nodes. */
  readonly writeGpuPage: WriteGpuPage;
}

/** Writes the page, of one cluster if it is named. Fails like the sink. */
export type WriteGpuPage = (cluster: string | undefined, sink: PageSink) => Promise<void>;
