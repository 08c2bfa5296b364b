import type { Device } from "./device.ts";

/** The reason why a scrape returned nothing. Each failure is a fact that the ledger needs: there is no observation for this interval. */
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

/** The reason why a line or a value of a page was dropped. The rest of the page was kept. */
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
  | "no-host"
  | "gateway-namespace"
  | "email-tenant"
  | "reserved-tenant"
  | "model-limit"
  | "tenant-limit";

/** The name of the collector in imported scrapes, and the value of the header `BACKFILL_HEADER` of imported messages. */
export const IMPORT_COLLECTOR = "prometheus-import";

/** The fields of every scrape attempt of one target, whether it succeeded or not. */
export interface ScrapeOrigin {
  readonly cluster: string;
  readonly node: string;
  /** The scraped address. */
  readonly target: string;
  /** The collector's name. */
  readonly collector: string;
}

/** The part of a scrape that stays the same between scrapes: the columns once, and one row per device. */
export interface ScrapeShape {
  readonly exporter: string;
  /** Canonical metric names first, in the order of their catalog. Unknown metrics follow under the exporter's name. */
  readonly columns: readonly string[];
  readonly devices: readonly Device[];
}

/** The time of a scrape attempt, its outcome and its values. */
export interface ScrapeAttempt {
  /** When the scraping of this target began, milliseconds since the epoch. */
  readonly epoch: number;
  /** The number of earlier attempts in this epoch. Gaps show losses. */
  readonly sequence: number;
  /** When the scrape began, milliseconds since the epoch. */
  readonly scrapedAtMillis: number;
  /** The scheduled interval, not the time that passed. */
  readonly intervalMillis: number;
  readonly durationMicros: number;
  readonly failure?: { readonly reason: ScrapeFailure; readonly detail: string };
  /** The number of lines and values that were dropped, by reason. */
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
  /** The values row by row, rows × columns. NaN if the page has no value. */
  readonly values: Float64Array;
}

/** One scrape attempt of a GPU exporter: the value of a message on `gpu.samples`. */
export interface Scrape extends ScrapeOrigin, ScrapeAttempt {
  readonly shape: ScrapeShape;
}

/** The shape of a scrape without a device. */
export const EMPTY_SHAPE: ScrapeShape = { exporter: "", columns: [], devices: [] };
