import type { ScrapeAttempt, ScrapeOrigin } from "../scrape.ts";
import type { ServingPod, ServingSeries } from "./series.ts";

/** The fields of every attempt to read the page of an engine or a gateway. */
export interface ServingOrigin extends ScrapeOrigin, ServingPod {}

/** The part of a scrape that stays the same between scrapes: the columns once, and one row for each model, part or tenant. */
export interface ServingShape {
  /** The program with the most series in rows; empty if the page could not be read. */
  readonly exporter: string;
  /** Names of canonical metrics, in the order of their catalog. */
  readonly columns: readonly string[];
  readonly series: readonly ServingSeries[];
}

/** One attempt to read the page of an engine or a gateway: the value of a message on `gpu.serving`. */
export interface ServingScrape extends ServingOrigin, ScrapeAttempt {
  readonly shape: ServingShape;
}

/** The shape of a page without a row. */
export const EMPTY_SERVING_SHAPE: ServingShape = { exporter: "", columns: [], series: [] };
