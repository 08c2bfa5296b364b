import type { Device } from "./device.ts";

/** Why a scrape gave nothing. Each is a fact that the ledger needs: for this interval nobody looked. */
export type ScrapeFailure =
  | "refused"
  | "timeout"
  | "unresolved"
  | "tls"
  | "denied"
  | "http-status"
  | "too-large"
  | "too-many-series"
  | "too-many-devices"
  | "interrupted"
  | "encoding"
  | "not-exposition"
  | "foreign-page";

/** Why a line or a value of a page was left out, while the rest of the page was kept. */
export type LineDrop =
  | "malformed-line"
  | "unterminated-line"
  | "sentinel"
  | "not-a-number"
  | "not-a-value"
  | "out-of-range"
  | "unsupported-zero"
  | "duplicate-series"
  | "not-a-gpu"
  | "no-device"
  | "no-host";

/** What every scrape attempt of one target says of itself, whether it succeeded or not. */
export interface ScrapeOrigin {
  readonly cluster: string;
  readonly node: string;
  /** The scraped address. */
  readonly target: string;
  /** The collector's name and the time of its start: a message carries (epoch, sequence), losses show as gaps. */
  readonly collector: string;
}

/** The part of a scrape that stays the same from one scrape to the next: columns once, a row per device. */
export interface ScrapeShape {
  readonly exporter: string;
  /** Canonical metric names first, in their catalogue's order, then what is unknown under the exporter's own name. */
  readonly columns: readonly string[];
  readonly devices: readonly Device[];
}

/** One scrape attempt: the value of a message on `gpu.samples`. */
export interface Scrape extends ScrapeOrigin {
  readonly epoch: number;
  readonly sequence: number;
  /** When the scrape began, milliseconds since the epoch. */
  readonly scrapedAtMillis: number;
  /** The interval that was scheduled, not the one that passed. */
  readonly intervalMillis: number;
  readonly durationMicros: number;
  readonly failure?: { readonly reason: ScrapeFailure; readonly detail: string };
  /** Lines and values left out, by reason. */
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
  readonly shape: ScrapeShape;
  /** Row by row, `devices.length × columns.length`; NaN where the exporter gave no value. */
  readonly values: Float64Array;
}

/** The shape of a scrape that found no device. */
export const EMPTY_SHAPE: ScrapeShape = { exporter: "", columns: [], devices: [] };
