import type { MonthToDate } from "../processors/ledger/charging/month.ts";
import type { Registry } from "prom-client";
import type { WatcherState } from "../collectors/kubernetes/watcher/watcher.ts";
import type { QueueView } from "../domain/queue/view.ts";
import type { LineDrop } from "../domain/scrape.ts";

/** The state of a running part, as `/api/status` shows it. */
export interface CollectorStatus {
  readonly targets: { readonly total: number; readonly up: number };
  readonly gpus: number;
  readonly valuesPerSecond: number;
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
  /** Targets whose last scrape failed, the first few. */
  readonly failing: readonly {
    readonly url: string;
    readonly node: string;
    readonly reason: string;
    readonly detail: string;
  }[];
  readonly spool: { readonly messages: number; readonly bytes: number; readonly dropped: number };
  /** The clusters of the configuration, whichever collector watches them. */
  readonly kubernetes: readonly WatcherState[];
}

/** The state of a processor. */
export interface ProcessorStatus {
  readonly rowsStored: number;
  readonly rowsPerSecond: number;
  readonly lagMessages: number;
  /** Of the last scrapes stored: half were fresher than the first number, 99 of 100 than the second. */
  readonly freshnessSeconds: { readonly p50: number; readonly p99: number } | undefined;
  readonly deadLetters: number;
  readonly pausedPartitions: readonly number[];
  /** Set while this processor leads. */
  readonly leader: { readonly generation: number } | undefined;
  /** What waits and what is left, as the leader sees it; some seconds old. */
  readonly queue: QueueView | undefined;
  /** Of the rollups that this processor has made since it was started. */
  readonly rollups: {
    /** Windows published. */
    readonly windows: number;
    /** What the last of them cost; `undefined` before the first. */
    readonly lastSeconds: number | undefined;
    /** Windows that wait. */
    readonly dirty: number;
  };
  /** Hours that are over and wait to be charged, or to be charged again; undefined where another processor leads. */
  readonly hoursWaiting: number | undefined;
  /** What teams have cost this month under the billing policy, as the leader sees it; some seconds old. */
  readonly month: MonthToDate | undefined;
}

/** The state of the demo fleet. */
export interface DemoStatus {
  readonly targets: readonly { readonly url: string; readonly node: string }[];
  readonly gpus: number;
  /** Rows of history sent, of all that are to be sent. */
  readonly history: { readonly sent: number; readonly total: number };
}

/** A running part of the program: its state, whether it does its work, and its end. */
export interface Role<Status> {
  readonly registry: Registry;
  status(): Promise<Status>;
  /** Why the part cannot do its work now; `undefined` while it can. */
  notReady(): string | undefined;
  stop(): Promise<void>;
}
